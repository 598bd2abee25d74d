import type { JsonObject, JsonValue } from '@x/schema'
import fc from 'fast-check'

const keys = fc.oneof(
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toString',
    'length',
    '',
    '0',
    'type',
    'text',
    'uri',
    'name',
  ),
  fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', '_meta', 'content', 'resultType', 'tools'),
  fc.string({ maxLength: 20, unit: 'binary' }),
)
const longText = fc
  .tuple(
    fc.constantFrom('x', ' ', '\\', '"', '=', '%', '/', '\u0000', '\ud800', '𝒳'),
    fc.integer({ min: 1, max: 20_000 }),
  )
  .map(([unit, count]) => unit.repeat(count))
const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constantFrom(null, true, -0, 1e308, 2 ** 53, 0.1, '', '2.0', 'tools/call', 'input_required', 'complete'),
  fc.string({ unit: 'binary' }),
  longText,
)
const nest = (value: JsonValue, depth: number): JsonValue => {
  let deep = value
  for (let level = 0; level < depth; level += 1) deep = level % 2 === 0 ? [deep] : { a: deep }
  return deep
}
const small: fc.Arbitrary<JsonValue> = fc.oneof(
  leaf,
  fc.json({ maxDepth: 3 }).map((text): JsonValue => JSON.parse(text)),
  fc.array(fc.tuple(keys, leaf), { maxLength: 6 }).map((entries): JsonValue => Object.fromEntries(entries)),
)

/** Values that a JSON parser accepts: deep or wide, with long texts, hostile keys and many errors. */
export const hostileValue: fc.Arbitrary<JsonValue> = fc.oneof(
  small,
  fc.tuple(small, fc.integer({ min: 10, max: 200 })).map(([value, depth]) => nest(value, depth)),
  fc
    .tuple(leaf, fc.integer({ min: 100, max: 5000 }))
    .map(
      ([value, count]): JsonValue =>
        Array<JsonValue>(count).fill(typeof value === 'string' ? value.slice(0, 20) : value),
    ),
  fc.integer({ min: 100, max: 5000 }).map((count): JsonValue => Array<JsonValue>(count).fill({})),
  fc.integer({ min: 100, max: 3000 }).map((count): JsonValue => ({ ...Array<JsonValue>(count).fill({}) })),
)

/** Generates objects of those values, with the given keys and others. */
export function hostileObject(...known: readonly string[]): fc.Arbitrary<JsonObject> {
  const key =
    known.length === 0
      ? keys
      : fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...known) }, { weight: 1, arbitrary: keys })
  return fc.array(fc.tuple(key, hostileValue), { maxLength: 4 }).map((entries) => Object.fromEntries(entries))
}

/** Texts from a peer: valid JSON, truncated JSON, duplicate keys, excessive depths, and arbitrary characters. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  hostileValue.map((value) => JSON.stringify(value)),
  hostileObject('jsonrpc', 'id', 'method', 'params').map((value) => JSON.stringify({ jsonrpc: '2.0', ...value })),
  fc.tuple(keys, leaf, fc.integer({ min: 2, max: 500 })).map(([key, value, count]) => {
    const member = `${JSON.stringify(key)}:${JSON.stringify(typeof value === 'string' ? value.slice(0, 50) : value)}`
    return `{${Array<string>(count).fill(member).join()}}`
  }),
  fc
    .tuple(fc.constantFrom('[', '{"a":', '[{"a":'), fc.integer({ min: 100, max: 100_000 }))
    .map(([open, depth]) => open.repeat(depth)),
  fc.tuple(hostileValue, fc.nat()).map(([value, at]) => {
    const text = JSON.stringify(value)
    return text.slice(0, at % text.length)
  }),
  longText,
  fc.string({ unit: 'binary' }),
)
