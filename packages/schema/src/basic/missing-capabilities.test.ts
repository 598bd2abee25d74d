import { expect, test } from 'vitest'
import type { ClientCapabilities } from './capabilities.ts'
import { findMissingCapabilities } from './missing-capabilities.ts'

test.each<[ClientCapabilities, ClientCapabilities, ClientCapabilities | undefined]>([
  [{}, {}, undefined],
  [{ roots: {} }, {}, undefined],
  [{}, { roots: {} }, { roots: {} }],
  [{ roots: {} }, { roots: {}, sampling: {} }, { sampling: {} }],
  [{ elicitation: {} }, { elicitation: {} }, undefined],
  [{ elicitation: {} }, { elicitation: { form: {} } }, undefined],
  [{ elicitation: { form: {} } }, { elicitation: {} }, undefined],
  [{ elicitation: {} }, { elicitation: { url: {} } }, { elicitation: { url: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: { form: {} } }, { elicitation: { form: {} } }],
  [{ elicitation: { url: {} } }, { elicitation: {} }, { elicitation: { form: {} } }],
  [{}, { elicitation: {} }, { elicitation: { form: {} } }],
  [{ elicitation: { form: {}, url: {} } }, { elicitation: { form: {}, url: {} } }, undefined],
  [{ sampling: {} }, { sampling: { tools: {} } }, { sampling: { tools: {} } }],
  [{ extensions: { 'a/b': { x: 1, y: [1] } } }, { extensions: { 'a/b': { y: [1] } } }, undefined],
  [{ extensions: { 'a/b': { x: 1 } } }, { extensions: { 'a/b': { x: 2 } } }, { extensions: { 'a/b': { x: 2 } } }],
  [{ roots: undefined }, { roots: undefined }, undefined],
])('of %j and needed %j, missing is %j', (declared, needed, missing) => {
  expect(findMissingCapabilities(declared, needed)).toEqual(missing)
})

test('what every object inherits is not declared', () => {
  const needed = { extensions: { toString: {}, constructor: {} } }
  expect(findMissingCapabilities({ extensions: {} }, needed)).toEqual(needed)
})

test('a key named __proto__ is treated like any other key', () => {
  const needed: ClientCapabilities = JSON.parse('{"extensions":{"__proto__":{"a":{}}}}')
  expect(JSON.stringify(findMissingCapabilities({}, needed))).toBe('{"extensions":{"__proto__":{"a":{}}}}')
  expect('a' in {}).toBe(false)
})
