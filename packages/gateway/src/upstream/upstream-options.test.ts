import { createServer } from '@x/server'
import { describe, expect, test } from 'vitest'
import { type Gateway, gateway, proxy } from '../index.ts'
import { createScriptedUpstream } from '../testing/scripted-upstream.ts'

const host = { name: 'company', version: '1.0.0' }
const { connect } = createScriptedUpstream()
const server = createServer({ name: 'crm', version: '1.0.0', log: () => {} })

/** As a program without types may write it. */
const createUntyped = (crm: unknown, more: object = {}): Gateway =>
  gateway({ ...host, ...more, upstreams: Object({ crm }) })

describe('an upstream that is not what its author meant is rejected at once', () => {
  test.each<[string, unknown, string]>([
    [
      'a misspelt rule',
      { connect, tools: { denied: ['erase'] } },
      'upstreams.crm.tools, has no option `denied`: write one',
    ],
    ['a rule beside `tools`', { connect, deny: ['erase'] }, 'gateway, upstreams.crm, has no option `deny`'],
    ['a misspelt option', { connect, require: true }, 'has no option `require`: did you mean `required`?'],
    ['a misspelt option of a server', { server, tool: {} }, 'has no option `tool`: did you mean `tools`?'],
    ['a credential of a server in this process', { server, credential: () => {} }, 'has no option `credential`'],
    [
      'a name for a list',
      { connect, tools: { deny: 'erase' } },
      'upstreams.crm.tools.deny must be an array of strings',
    ],
    [
      'a name for a list to allow',
      { connect, tools: { allow: 'find' } },
      'tools.allow must be an array of strings, and',
    ],
    [
      'a list for names',
      { connect, tools: { rename: ['a'] } },
      'tools.rename must be an object whose values are strings',
    ],
    ['a path for a store', { connect, tools: { pins: 'pins.json' } }, 'tools.pins must be a store with get and add'],
    ['no rules at all', { connect, tools: false }, 'gateway: upstreams.crm.tools must be an object, and is a boolean'],
    [
      'a text for a yes or no',
      { connect, required: 'no' },
      'upstreams.crm.required must be true or false, and is a str',
    ],
    ['a text for a number', { connect, timeoutMs: '60s' }, 'upstreams.crm.timeoutMs is "60s": write a whole number'],
    ['a token for a function', { connect, credential: 'token' }, 'upstreams.crm.credential must be a function'],
    ['a connection', connect(), 'The upstream crm is a connection, and must be the function that opens one, as in {'],
    ['a connection as its server', { server: connect() }, 'The upstream crm is a connection'],
    ['an address', 'https://crm.example.com/mcp', 'The upstream crm must be a server or have connect, as in {'],
    ['a server and a connection', { server, connect }, 'The upstream crm must have either server or connect'],
  ])('%s', (_, crm, message) => {
    expect(() => createUntyped(crm)).toThrow(message)
  })

  test.each<[string, object, string]>([
    ['a key for a codec', { state: 'key' }, 'gateway: state must be a codec, such as sealedState({ keys })'],
    ['options for a search', { toolSearch: { above: 5 } }, 'gateway: toolSearch must be the result of toolSearch()'],
    [
      'a function for a list of them',
      { use: () => {} },
      'gateway: use must be an array of functions, and is a function',
    ],
    ['an extension that was not called', { extensions: [() => {}] }, 'extensions must be an array of extensions'],
  ])('and so is %s of the gateway', (_, more, message) => {
    expect(() => createUntyped({ connect }, more)).toThrow(message)
  })

  test.each<[string, unknown, string]>([
    ['a connection', connect(), 'The upstream of proxy is a connection, and must be the function that opens one'],
    ['rules of tools', { connect, tools: { deny: ['erase'] } }, 'The upstream of proxy has no option `tools`'],
  ])('and so is %s for a proxy', (_, upstream, message) => {
    expect(() => proxy(Object(upstream), host)).toThrow(message)
  })
})

test.each([
  [{ allow: ['find', 'erase'], deny: ['erase'] }, '"erase" is in allow and in deny: remove it from one of them'],
  [{ rename: { add: 'note' }, allow: ['find'] }, 'gives "add" the name "note", but allow does not have "add": add it'],
  [{ rename: { add: 'note' }, deny: ['add'] }, 'rename gives "add" the name "note", but deny has "add": remove one'],
  [{ rename: { add: 'c', find: 'c' } }, 'rename gives "find" the name "c", and "add" too: choose another name for one'],
  [{ rename: { add: 'b c' } }, 'rename gives "add" the name "b c", which is not 1 to 128 of the characters'],
])('rules of tools that contradict are rejected with the upstream and the tools: %j', (tools, problem) => {
  expect(() => createUntyped({ connect, tools })).toThrow(`gateway: upstreams.crm.tools: `)
  expect(() => createUntyped({ connect, tools })).toThrow(problem)
})

test('every option of an upstream is accepted', async () => {
  const pins = { get: () => undefined, add: (_: string, digest: string) => digest }
  const tools = { allow: ['add'], deny: ['erase'], rename: { add: 'note' }, pins }
  const rules = { tools, timeoutMs: 1000, required: true }
  const auth = { headers: () => ({}), onResponse: () => undefined }
  const upstreams = { crm: { connect, credential: () => auth, ...rules }, hr: { server, ...rules }, own: server }
  await gateway({ ...host, upstreams, log: () => {} }).close()
})
