import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createCallText, refusalOf } from '../testing/refusal.ts'
import { errorCodes } from '../basic/mcp-error.ts'
import { defaultBounds } from './scan-text.ts'
import { parseBatch, parseMessage } from './parse-message.ts'

describe('keys are exact (CVE-2026-27896)', () => {
  test.each([
    ['Method', '{"jsonrpc":"2.0","id":7,"Method":"x"}', 'method'],
    ['METHOD beside method', createCallText(',"METHOD":"x"'), 'method'],
    ['params with a long s', createCallText(',"param\u017f":{}'), 'params'],
    ['params with an escaped long s', createCallText(',"param\\u017f":{}'), 'params'],
    ['ID with a Kelvin-like full-width letter', createCallText(',"\uff29\uff24":1'), 'id'],
    ['Name in params', createCallText(',"params":{"Name":"x"}'), 'params.name'],
    ['ARGUMENTS in params', createCallText(',"params":{"name":"x","ARGUMENTS":{}}'), 'params.arguments'],
    ['requeststate in params', createCallText(',"params":{"requeststate":"x"}'), 'params.requestState'],
    ['_META in params', createCallText(',"params":{"_META":{}}'), 'params._meta'],
    [
      'a protocolversion in _meta',
      createCallText(',"params":{"_meta":{"io.modelcontextprotocol/protocolversion":"x"}}'),
      'params._meta.io.modelcontextprotocol/protocolVersion',
    ],
  ])('%s is refused, since another reader might take it for the key', (_, text, key) => {
    expect(refusalOf(text)).toMatchObject({
      code: errorCodes.invalidRequest,
      message: expect.stringContaining(`${key} is: keys are compared exactly`),
    })
  })

  test('the same spellings mean nothing where keys are the application’s own', () => {
    const text = createCallText(',"params":{"name":"x","arguments":{"Name":1,"name":2,"Method":3,"URI":4}}')
    expect(parseMessage(text)).toEqual(JSON.parse(text))
  })
})

test('a result may have a key twice: no intermediary acts upon it', () => {
  expect(parseMessage('{"jsonrpc":"2.0","id":7,"result":{"a":{"b":1,"b":2}}}')).toMatchObject({ id: 7 })
})

test('a key that occurs twice in arguments of any depth is found', () => {
  const bounds = { ...defaultBounds, depth: 100_000, elements: 200_000 }
  const deep = `${'[{"a":'.repeat(40_000)}{"b":1,"b":1}${'}]'.repeat(40_000)}`
  expect(refusalOf(createCallText(`,"params":{"arguments":${deep}}`), bounds).message).toContain('occurs twice')
})

describe('a key that occurs twice is rejected where a gateway may read the other value', () => {
  const version = '"io.modelcontextprotocol/protocolVersion":"x"'
  // A request with two ids has no certain one, so a rejection of the message's own keys carries none.
  test.each([
    ['the message', ',"jsonrpc":"2.0"', undefined],
    ['the message', ',"id":8', undefined],
    ['the message', ',"method":"tools/list"', undefined],
    ['the message', ',"params":{},"params":{"name":"a"}', undefined],
    ['the message', ',"params":{"name":"a"},"p\\u0061rams":{"name":"a"}', undefined],
    ['params', ',"params":{"name":"a","name":"b"}', 7],
    ['params', ',"params":{"name":"a","n\\u0061me":"b"}', 7],
    ['params', ',"p\\u0061rams":{"name":"a","name":"b"}', 7],
    ['params', ',"params":{"name":"a","arguments":{"name":1,"q":[{}]},"name" \n\t: "b"}', 7],
    ['params', ',"params":{"uri":"a","uri":"a"}', 7],
    ['params', ',"params":{"arguments":{},"arguments":{}}', 7],
    ['params', ',"params":{"_meta":{},"_meta":{}}', 7],
    ['params', ',"params":{"__proto__":{},"__proto__":{}}', 7],
    ['params._meta', `,"params":{"_meta":{${version},${version}}}`, 7],
    ['params._meta', `,"params":{"_meta":{${version},${version.replace('/', '\\/')}}}`, 7],
    ['params._meta', `,"params":{"arguments":{"_meta":{}},"_m\\u0065ta" : {${version},${version}}}`, 7],
    ['an object in params', ',"params":{"name":"a","arguments":{"name":1,"method":2,"name":3}}', 7],
    ['an object in params', ',"params":{"arguments":{"a":[{},{"b":{"c":{"d":1,"d":1}}}]}}', 7],
    ['an object in params', ',"params":{"arguments":{"user":{"id":1,"role":2},"user":3}}', 7],
    ['an object in params', ',"params":{"arguments":{"__proto__":1,"__proto__":{}}}', 7],
    ['an object in params', ',"params":{"arguments":{"a":1,"\\u0061":1}}', 7],
    ['an object in params', ',"params":{"inputResponses":{"q":{"content":{"sure":false,"sure":true}}}}', 7],
    ['an object in params', ',"params":{"_meta":{"com.example/a":{"b":1,"b":2}}}', 7],
  ])('in %s: %s', (level, members, id) => {
    expect(refusalOf(createCallText(members))).toEqual({
      code: errorCodes.invalidRequest,
      message: `A key of ${level} occurs twice, which parsers read differently; send each key once`,
      id,
    })
  })

  test.each([
    [
      'as keys of different objects',
      ',"params":{"name":"a","arguments":{"name":1,"method":{"name":2,"a":{"name":3}}}}',
    ],
    ['as values', ',"params":{"name":"name","uri":"uri","arguments":{"a":"params","b":["id","id"]}}'],
    ['as keys of objects in an array', ',"params":{"list":[{"name":1},{"name":2}],"name":"a"}'],
    ['in a member of another name that holds an object', ',"params":{"context":{"name":1},"name":"a"}'],
    ['as text that looks like a key', ',"params":{"name":"a","arguments":{"q":"\\"name\\":1,\\"name\\":2"}}'],
    ['as keys written with escapes', ',"p\\u0061rams":{"n\\u0061me":"a","_m\\u0065ta":{"a\\/b":1}}'],
    ['as text after escaped backslashes', ',"params":{"name":"\\\\","arguments":{"q":"\\\\\\",\\"name\\":"}}'],
  ])('but not %s', (_, members) => {
    const text = createCallText(members)
    expect(parseMessage(text)).toEqual(JSON.parse(text))
  })

  test('the same keys found by any parser of JSON, with any values', () => {
    const json = fc.json({ maxDepth: 4 })
    fc.assert(
      fc.property(json, json, fc.boolean(), (one, other, twice) => {
        // The texts of this arbitrary may have a key twice.
        const [first, second] = [one, other].map((part) => JSON.stringify(JSON.parse(part)))
        const text = createCallText(
          `,"params":{"arguments":${first},"other":${second}${twice ? ',"arguments":{}' : ''}}`,
        )
        if (twice) expect(refusalOf(text).message).toContain('A key of params occurs twice')
        else expect(parseMessage(text)).toEqual(JSON.parse(text))
      }),
    )
  })
})

test.each([
  ['of a message', '[{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}]'],
  ['of arguments', '[{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"a":1,"a":2}}}]'],
])('a batch with a key %s that occurs twice is rejected', (_title, text) => {
  expect(() => parseBatch(text, 10)).toThrow('A key of the batch occurs twice')
})
