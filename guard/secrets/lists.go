package secrets

// ofPasswords are words that stand behind "password:" and speak of it, or of
// what to do: kinds, states, places, types, and the word in other languages.
var ofPasswords = words(`string strings varchar char character characters number numbers numeric integer int32 int64 boolean bytea object array field
	column label title type types bytes slice buffer vector option struct interface hash hashes hashed hashing bcrypt scrypt plain cleartext encrypted encrypt
	encoded encoding decoded same similar unchanged changed change updated update expired expires rotated rotate rotation rotating disabled disable enabled
	enable locked unlocked weaker stronger strong simple complex complexity mandatory nullable nullish readonly writeonly sensitive private public
	internal external local remote manual automatic prompt prompted prompts interactive stdin stdout environment keychain keyring vault onepassword bitwarden
	lastpass keepass keepassxc dashlane secretsmanager kerberos passkey passkeys pending later nothing never always anything something whatever below above
	here there inside outside attached separately elsewhere upper lower uppercase lowercase letters digits symbols minimum maximum length lengths policy
	policies rules reset resets forgot forgotten lost login logins logout signin signout signup register registration confirm confirmed confirmation verify verified
	validate validated validation valid invalid incorrect correct mismatch mismatched error errors failed failure fails success okay fixed solved closed opened
	opens resolved reviewed security secure secured insecure unsafe authentication authorization authorized unauthorized basic digest session cookie header
	query username usernames email emails mailbox account accounts service services custom generated generate random randomized provided provide given supplied
	specified unspecified shared personal unique individual confidential classified restricted protected sunset migration rotations management manager managers
	storage stored strength deprecated legacy unused useless temporary permanent initial default defaults original previous current existing empty missing
	absent present omitted skipped ignored ignore masked hidden redacted removed deleted trimmed truncated escaped quoted literal variable variables constant argument
	arguments parameter parameters option options optional required requires require necessary needed unneeded important critical warning notice reminder example examples sample
	samples placeholder placeholders template dummy testing tested untested tester admin administrator postgres database server client clients browser
	support supported unsupported unknown undefined undecided various several multiple single double again twice once weekly monthly yearly daily quarterly
	kennwort passwort wachtwoord losenord contrasena senha parola haslo heslo jelszo sandi salasana adgangskode passord clave
	obligatoire obligatorio obligatoria requis requise requerido requerida cambiada cambiado modificado modificada caducada caducado inconnu inconnue oculto oculta siehe
	unbekannt erforderlich abgelaufen vergessen gesperrt optionnel opcional cifrada cifrado obrigatorio obrigatoria alterada alterado expirada obbligatoria
	obbligatorio modificata scaduta vereist gewijzigd verplicht wymagane zmienione
	please remember memorized written printed emailed texted asking contact sealed escrowed delegated obsolete revoked revoke issued assigned unassigned`)
