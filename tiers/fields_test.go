package tiers_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"memd"
	"memd/configs"
)

// What holds a field of a request against secrets: a guard that looks at it, an
// alphabet in which none can be written, or a type that is no text.
const (
	scanned  = "scanned"
	alphabet = "alphabet"
	noText   = "no text"
)

// fieldsOfRequests are all the fields of all the requests that write.
var fieldsOfRequests = map[string]string{
	"Remember.Summary": scanned, "Remember.RawContent": scanned, "Remember.Tags": scanned, "Remember.Source": scanned, "Remember.Namespace": scanned,
	"Remember.SessionID": scanned, "Remember.Agent": scanned, "Remember.Access": scanned,
	"Remember.Kind": alphabet, "Remember.Importance": noText, "Remember.ExpiresAt": noText,

	"RememberLongTerm.MemoryKey": scanned, "RememberLongTerm.Summary": scanned, "RememberLongTerm.Source": scanned, "RememberLongTerm.RawContent": scanned,
	"RememberLongTerm.Why": scanned, "RememberLongTerm.HowToApply": scanned, "RememberLongTerm.Tags": scanned, "RememberLongTerm.Owner": scanned,
	"RememberLongTerm.Access": scanned, "RememberLongTerm.Namespace": scanned,
	"RememberLongTerm.Kind": alphabet, "RememberLongTerm.Importance": noText, "RememberLongTerm.VerifiedAt": noText, "RememberLongTerm.CreatedAt": noText, "RememberLongTerm.BaseVersion": noText,

	"Note.Summary": scanned, "Note.TTL": alphabet,

	"Patch.Tags": scanned, "Patch.Owner": scanned, "Patch.Access": scanned,
	"Patch.Importance": noText, "Patch.ExpiresAt": noText, "Patch.ResolvedAt": noText,

	"Promote.MemoryKey": scanned, "Promote.Source": scanned, "Promote.Why": scanned, "Promote.HowToApply": scanned, "Promote.Tags": scanned, "Promote.Owner": scanned,
	"Promote.To": alphabet, "Promote.Kind": alphabet, "Promote.Importance": noText, "Promote.VerifiedAt": noText,

	"Verify.VerifiedAt": noText, "Verify.SourceStatus": alphabet,
}

// A secret in any field of any request that writes is refused, by a guard or by the
// field's alphabet, and is in no file of the folder then.
func TestNoFieldIsForgotten(t *testing.T) {
	seen := map[string]bool{}
	for _, request := range []any{memd.Remember{}, memd.RememberLongTerm{}, memd.Note{}, memd.Patch{}, memd.Promote{}, memd.Verify{}} {
		for i := range reflect.TypeOf(request).NumField() {
			f := reflect.TypeOf(request).Field(i)
			name := reflect.TypeOf(request).Name() + "." + f.Name
			seen[name] = true
			how, known := fieldsOfRequests[name]
			if !known {
				t.Errorf("%s: nothing says what holds it against secrets", name)
				continue
			}
			if text := mayHoldText(f.Type); text == (how == noText) {
				t.Errorf("%s is a %s, held by %s", name, f.Type, how)
			}
			if how != noText {
				t.Run(name, func(t *testing.T) { refusedIn(t, request, i, how) })
			}
		}
	}
	for name := range fieldsOfRequests {
		if !seen[name] {
			t.Errorf("%s is no field", name)
		}
	}
	h := newHouse(t, nil)
	h.Service = h.WithGuard(with(configs.GuardBlock))
	_, err := h.Note(ctx, admin, aToken, memd.Note{Summary: "in the path"})
	h.blocked("the session of a note", err, "session_id")
	for what, err := range map[string]error{ // these only find
		"end": h.EndSession(ctx, admin, aToken), "forget": h.Forget(ctx, admin, aToken), "forget key": h.ForgetKey(ctx, admin, "", aToken),
		"archive": second(h.Archive(ctx, admin, aToken)), "hit": second(h.Hit(ctx, admin, aToken)),
		"verify": second(h.Verify(ctx, admin, aToken, memd.Verify{})), "patch": second(h.Patch(ctx, admin, aToken, memd.Patch{Importance: memd.Some(3)})),
		"promote": second(h.Promote(ctx, admin, aToken, memd.Promote{MemoryKey: "k", Source: agents})),
	} {
		if memd.CodeOf(err) != memd.CodeNotFound {
			t.Errorf("%s: %v", what, err)
		}
	}
	h.must(h.store.Flush(ctx))
	h.clean("the folder", h.bytes())
}

// mayHoldText reports whether a type is of text that its caller chooses.
func mayHoldText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Pointer, reflect.Slice:
		return mayHoldText(t.Elem())
	case reflect.Struct:
		value, isOpt := t.FieldByName("Value")
		return isOpt && mayHoldText(value.Type)
	}
	return false
}

// refusedIn puts a secret into one field of a request that is else in order.
func refusedIn(t *testing.T, request any, i int, how string) {
	h := newHouse(t, nil)
	long, short := h.keep("old", "the bot pushes"), h.remember("the bot pushes at night")
	h.Service = h.WithGuard(with(configs.GuardBlock))
	put := func(request, good any) any {
		v := reflect.New(reflect.TypeOf(request)).Elem()
		v.Set(reflect.ValueOf(good))
		f, secret := v.Field(i), aToken
		switch v.Type().Field(i).Name {
		case "Namespace":
			secret = "project/" + strings.ToLower("xoxb-"+"123456789012-123456789012-"+"q7xw2lm9rtz4kvb8ns3hd6yc")
		case "Source":
			secret = "https://ci.internal/" + aToken
		}
		switch {
		case f.Kind() == reflect.String:
			f.SetString(secret)
		case f.Kind() == reflect.Slice:
			f.Set(reflect.ValueOf([]string{"ci", secret}))
		case f.FieldByName("Value").Kind() == reflect.String:
			f.Set(reflect.ValueOf(memd.Some(secret)))
		default:
			f.Set(reflect.ValueOf(memd.Some([]string{"ci", secret})))
		}
		return v.Interface()
	}
	var err error
	switch request.(type) {
	case memd.Remember:
		_, err = h.Remember(ctx, admin, put(request, memd.Remember{Summary: "new"}).(memd.Remember))
	case memd.RememberLongTerm:
		_, err = h.RememberLongTerm(ctx, admin, put(request, longRequest("new", "new")).(memd.RememberLongTerm))
	case memd.Note:
		_, err = h.Note(ctx, admin, "s1", put(request, memd.Note{Summary: "new"}).(memd.Note))
	case memd.Patch:
		_, err = h.Patch(ctx, admin, long.ID, put(request, memd.Patch{}).(memd.Patch))
	case memd.Promote:
		_, err = h.Promote(ctx, admin, short.ID, put(request, memd.Promote{MemoryKey: "new", Source: agents}).(memd.Promote))
	case memd.Verify:
		_, err = h.Verify(ctx, admin, long.ID, put(request, memd.Verify{}).(memd.Verify))
	}
	field, _, _ := strings.Cut(reflect.TypeOf(request).Field(i).Tag.Get("json"), ",")
	if how == scanned {
		h.blocked("the field", err, field)
	} else {
		refused(t, err, memd.CodeInvalidRequest, field)
	}
	h.clean("the refusal", fmt.Sprintf("%+v", err))
	h.must(h.store.Flush(ctx))
	h.clean("the folder", h.bytes())
	if h.rows() != "1 1 0 0" {
		t.Errorf("rows: %s", h.rows())
	}
}
