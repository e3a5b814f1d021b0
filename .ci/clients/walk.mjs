// Walks every tool, resource, prompt and completion of memd with the official
// TypeScript client, which holds structured content against the output schemas, that
// of refusals included:
//
//   node walk.mjs stdio COMMAND ARGUMENT…
//   TOKEN=… node walk.mjs http URL
//
// It exits with 0 where all was as it should be, and prints what it called.
import assert from 'node:assert/strict'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

const [kind, target, ...rest] = process.argv.slice(2)
const tools = ['context', 'forget', 'get', 'list', 'note', 'recall', 'remember', 'remember_long_term', 'verify', 'why']

function transport() {
  if (kind === 'stdio') {
    return new StdioClientTransport({ command: target, args: rest, env: process.env, stderr: 'inherit' })
  }
  return new StreamableHTTPClientTransport(new URL(target), {
    requestInit: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } },
  })
}

const walked = []
const problems = []

async function open() {
  const client = new Client({ name: 'walk', version: '1' }, { capabilities: {} })
  client.onerror = e => problems.push(e)
  const carrier = transport()
  await client.connect(carrier)
  const close = async () => {
    if (kind === 'http') await carrier.terminateSession()
    await client.close()
  }
  await client.listTools() // the client compiles the schemas of answers
  return { client, close }
}

const session = await open()
const { client } = session

async function call(name, args, options) {
  walked.push(`tools/call ${name}`)
  const result = await client.callTool({ name, arguments: args }, undefined, options)
  assert.equal(result.content.length, 1)
  assert.equal(result.content[0].type, 'text')
  assert.ok(result.content[0].text.length > 0 && result.content[0].text.length <= 16000)
  assert.ok(result.structuredContent, `${name} has no structured content`)
  return { isError: result.isError ?? false, said: result.content[0].text, ...result.structuredContent }
}

async function answered(name, args, options) {
  const got = await call(name, args, options)
  assert.equal(got.isError, false, `${name} is refused: ${got.said}`)
  return got
}

async function refused(name, args, code, field) {
  const got = await call(name, args)
  assert.equal(got.isError, true, `${name} is answered: ${got.said}`)
  assert.equal(got.code, code)
  assert.equal(got.field, field)
  assert.ok(got.said.startsWith(`${code}: `))
}

async function fails(what, promise) {
  walked.push(what)
  await assert.rejects(promise, e => typeof e.code === 'number', what)
}

// What the server says of itself.
assert.equal(client.getServerVersion().name, 'memd')
assert.match(client.getInstructions(), /context/)
const capabilities = client.getServerCapabilities()
for (const name of ['tools', 'resources', 'prompts', 'completions']) assert.ok(capabilities[name], name)
assert.equal(capabilities.logging, undefined)
await client.ping()

const listed = (await client.listTools()).tools
assert.deepEqual(listed.map(t => t.name).sort(), tools)
for (const t of listed) {
  assert.equal(t.inputSchema.additionalProperties === false || t.inputSchema.additionalProperties?.not !== undefined, true, t.name)
  assert.ok(t.outputSchema && t.description && t.title && t.annotations, t.name)
  for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint']) {
    assert.equal(typeof (t.annotations[hint] ?? false), 'boolean', `${t.name} ${hint}`)
  }
  assert.equal(t.annotations.destructiveHint, t.name === 'forget')
  assert.equal(t.annotations.openWorldHint, false)
}

// Every tool, answered.
await answered('context', { query: 'kumquat' })
const remembered = await answered('remember', { summary: 'The kumquat release waits for the audit.', tags: ['kumquat', 'a,b'] })
assert.deepEqual(remembered.tags, ['kumquat', 'a,b'])
const lasting = await answered('remember_long_term', {
  memory_key: 'kumquat/freeze', kind: 'rule', summary: 'No kumquat deploys on Fridays.', source: 'AGENTS.md#freeze', tags: ['kumquat'],
})
assert.equal(lasting.version, 1)
const note = await answered('note', { summary: 'Half way through the kumquat.' })
const progress = []
const recalled = await answered('recall', { query: 'kumquat', include_raw: true }, { onprogress: p => progress.push(p) })
assert.ok(recalled.results.length >= 2)
assert.ok(recalled.said.includes('No kumquat deploys on Fridays.'))
for (const p of progress) assert.equal(typeof p.progress, 'number')
const nothing = await answered('recall', { query: 'zzzz qqqq' })
assert.deepEqual(nothing.results, [])
const known = await answered('context', { query: 'kumquat' })
assert.ok(known.said.includes('Half way through the kumquat.') && known.said.includes('No kumquat deploys'))
assert.equal((await answered('get', { id: remembered.id })).summary, remembered.summary)
assert.equal((await answered('get', { memory_key: 'kumquat/freeze' })).id, lasting.id)
await answered('verify', { memory_key: 'kumquat/freeze' })
await answered('why', { query: 'kumquat', id: lasting.id })
const seen = []
for (let cursor; ;) {
  const page = await answered('list', { limit: 1, ...(cursor && { cursor }) })
  seen.push(...page.memories.map(m => m.id))
  if (!(cursor = page.next_cursor)) break
}
assert.equal(new Set(seen).size, seen.length)
for (const id of [remembered.id, lasting.id]) assert.ok(seen.includes(id))
assert.deepEqual((await answered('list', { tag: 'nobody has this' })).memories, [])
await answered('recall', { query: 'kumquat', max_chars: 500 })

// Every tool, refused; the client holds these against the same schemas.
await refused('context', { nonsense: 1 }, 'invalid_request', 'nonsense')
await refused('remember', {}, 'missing_field', 'summary')
await refused('remember', { summary: 'x', tags: 'kumquat' }, 'invalid_request', 'tags')
await refused('remember_long_term', { memory_key: 'kumquat/x', summary: 'x' }, 'missing_source', 'source')
await refused('remember_long_term', {
  memory_key: 'kumquat/freeze', summary: 'No kumquat deploys at all.', source: 'AGENTS.md#freeze', base_version: 7,
}, 'version_conflict', 'base_version')
await refused('note', { summary: 'x', ttl: 'soon' }, 'invalid_request', 'ttl')
await refused('recall', { query: 'x', limit: 0 }, 'invalid_request', 'limit')
await refused('recall', { query: 'x', tiers: ['nowhere'] }, 'invalid_request', 'tiers')
await refused('get', { id: '0195a0c4-0000-7000-8000-000000000000' }, 'not_found', undefined)
await refused('get', {}, 'invalid_request', 'id')
await refused('list', { cursor: 'nonsense' }, 'invalid_request', 'cursor')
await refused('verify', { memory_key: 'kumquat/none' }, 'not_found', undefined)
await refused('why', {}, 'invalid_request', 'memory_key')
await refused('forget', { memory_key: 'kumquat/none' }, 'not_found', undefined)
await fails('an unknown tool', client.callTool({ name: 'nowhere', arguments: {} }))

// Resources.
const resources = (await client.listResources()).resources
assert.equal(resources.length, 1)
const templates = (await client.listResourceTemplates()).resourceTemplates
assert.deepEqual(templates.map(t => t.uriTemplate).sort(), ['memd://context/{session}', 'memd://key/{namespace}/{memory_key}', 'memd://memory/{id}'])
const space = encodeURIComponent(lasting.namespace)
for (const [uri, holds] of [
  [resources[0].uri, 'Half way through the kumquat.'],
  [`memd://context/${note.session_id}`, 'Half way through the kumquat.'],
  [`memd://memory/${remembered.id}`, remembered.summary],
  [`memd://key/${space}/kumquat%2Ffreeze`, 'No kumquat deploys on Fridays.'],
  [`memd://key/${space}/kumquat/freeze`, 'No kumquat deploys on Fridays.'],
]) {
  walked.push(`resources/read ${uri.split('/')[2]}`)
  const { contents } = await client.readResource({ uri })
  assert.equal(contents.length, 1)
  assert.equal(contents[0].uri, uri)
  assert.equal(contents[0].mimeType, 'text/markdown')
  assert.ok(contents[0].text.includes(holds), uri)
}
for (const uri of ['memd://memory/none', 'memd://key/default/none', 'memd://nowhere/x', 'file:///etc/passwd']) {
  await fails(`resources/read ${uri}`, client.readResource({ uri }))
}

// Prompts.
const prompts = (await client.listPrompts()).prompts
assert.deepEqual(prompts.map(p => p.name).sort(), ['groom-review', 'recall-before-work', 'wrap-up-session'])
for (const [name, args, holds] of [
  ['recall-before-work', { task: 'kumquat' }, 'No kumquat deploys on Fridays.'],
  ['wrap-up-session', {}, 'Half way through the kumquat.'],
  ['groom-review', {}, 'verify'],
  ['groom-review', { namespace: lasting.namespace }, 'verify'],
]) {
  walked.push(`prompts/get ${name}`)
  const { messages } = await client.getPrompt({ name, arguments: args })
  assert.equal(messages.length, 1)
  assert.ok(messages[0].content.text.includes(holds), name)
}
await fails('a prompt without its argument', client.getPrompt({ name: 'recall-before-work', arguments: {} }))
await fails('an unknown prompt', client.getPrompt({ name: 'nowhere', arguments: {} }))

// Completion.
for (const [ref, argument, context, wants] of [
  [{ type: 'ref/resource', uri: templates.find(t => t.name === 'key').uriTemplate }, { name: 'memory_key', value: 'kum' }, undefined, 'kumquat/freeze'],
  [{ type: 'ref/resource', uri: templates.find(t => t.name === 'key').uriTemplate }, { name: 'memory_key', value: '' }, { arguments: { namespace: lasting.namespace } }, 'kumquat/freeze'],
  [{ type: 'ref/resource', uri: templates.find(t => t.name === 'key').uriTemplate }, { name: 'namespace', value: 'def' }, undefined, 'default'],
  [{ type: 'ref/resource', uri: templates.find(t => t.name === 'session context').uriTemplate }, { name: 'session', value: '' }, undefined, note.session_id],
  [{ type: 'ref/prompt', name: 'groom-review' }, { name: 'namespace', value: 'u' }, undefined, 'user'],
  [{ type: 'ref/prompt', name: 'groom-review' }, { name: 'tags', value: 'kum' }, undefined, 'kumquat'],
]) {
  walked.push(`completion/complete ${argument.name}`)
  const { completion } = await client.complete({ ref, argument, context })
  assert.ok(completion.values.includes(wants), `${argument.name} offers ${completion.values}`)
}

// Many at once, and one that is given up.
const many = await Promise.all(Array.from({ length: 20 }, (_, i) => answered('remember', { summary: `kumquat number ${i} of many` })))
assert.equal(new Set(many.map(m => m.id)).size, 20)
const given = new AbortController()
given.abort()
await assert.rejects(client.callTool({ name: 'list', arguments: {} }, undefined, { signal: given.signal }))
await client.ping()

// Forgetting, and the end of the session: its notes are gone, the rest is there.
await answered('forget', { id: remembered.id })
await refused('get', { id: remembered.id }, 'not_found', undefined)
await session.close()
const next = await open()
const later = await next.client.callTool({ name: 'context', arguments: { query: 'kumquat' } })
assert.ok(later.content[0].text.includes('No kumquat deploys on Fridays.'))
assert.ok(!later.content[0].text.includes('Half way through the kumquat.'))
assert.ok(!later.content[0].text.includes('waits for the audit'))
await next.client.callTool({ name: 'forget', arguments: { memory_key: 'kumquat/freeze' } })
await next.close()

assert.deepEqual(problems, [])
assert.deepEqual([...new Set(walked.filter(w => w.startsWith('tools/call ')).map(w => w.slice(11)))].sort(), tools)
console.log(`${walked.length} calls over ${kind}`)
