import type { JsonObject } from '@x/schema'
import { expect, test, vi } from 'vitest'
import { z } from 'zod'
import { createServer, findHostProblems, type Log, tool } from '../index.ts'

const object = (properties: JsonObject): JsonObject => ({ type: 'object', properties })

const problemCases: [string, { name?: string; inputSchema?: JsonObject }, string, RegExp][] = [
  ['a name of 51 characters', { name: 'a'.repeat(51) }, 'name', /name of tool "a{51}".*\(Claude Code, Codex, Copilot/],
  ['a union at the root', { inputSchema: { type: 'object', oneOf: [{}] } }, 'schema_root', /oneOf.*Codex/],
  ['a root without a type', { inputSchema: {} }, 'schema_root', /should be one object;/],
  ['a property name', { inputSchema: object({ größe: {} }) }, 'property_name', /"größe" of tool "t".*Claude Code/],
  ['an empty property name', { inputSchema: object({ '': {} }) }, 'property_name', /""/],
  [
    'a nested property name',
    { inputSchema: object({ a: object({ $filter: {} }) }) },
    'property_name',
    /"a\.\$filter" of tool "t"/,
  ],
  [
    'the property name of an item',
    { inputSchema: object({ a: { items: object({ 'b c': {} }) } }) },
    'property_name',
    /"\/properties\/a\/items\/properties\/b c"/,
  ],
  ['look-ahead', { inputSchema: object({ a: { pattern: '^(?!x)' } }) }, 'pattern', /"a" in tool "t".*OpenAI/],
  ['look-behind', { inputSchema: object({ a: { patternProperties: { '(?<=x)y': {} } } }) }, 'pattern', /"a"/],
  ['an unknown format', { inputSchema: object({ a: { format: 'cuid2' } }) }, 'format', /"a" in tool "t".*Gemini/],
]

test.each(problemCases)('%s is found, with the tool and the hosts [ROB-009]', (_, listed, code, message) => {
  const fine = object({ a: { type: 'string', pattern: '(?:a)(?<name>b)\\(?=[(?=]', format: 'uri' }, 'b.c-d_1': {} })
  const problems = findHostProblems([{ name: 't', inputSchema: fine, ...listed }])
  expect(problems).toMatchObject([{ code, tool: listed.name ?? 't', message: expect.stringMatching(message) }])
})

test('the tools of a server are counted, and 128 are fine', () => {
  const tools = Array.from({ length: 129 }, (_, index) => ({ name: `t${index}`, inputSchema: object({}) }))
  expect(findHostProblems(tools.slice(1))).toEqual([])
  expect(findHostProblems(tools)).toMatchObject([{ code: 'tool_count', message: expect.stringContaining('129') }])
})

test('createServer warns once of what hosts refuse in the schemas that it lists [ROB-009]', () => {
  const log = vi.fn<Log>()
  const named = tool('named', { description: 'Has odd names', input: z.object({ $top: z.int() }), run: () => '' })
  const union = z.union([z.object({ a: z.string() }), z.object({ b: z.string().regex(/^(?!x)/) })])
  const either = tool('either', { description: 'Has a union', input: union, run: () => '' })
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [named, either], log, state: false })
  server.update({ tools: [named, either] })
  expect(log.mock.calls.map(([{ level, code, name }]) => [level, code, name])).toEqual([
    ['warn', 'property_name', 'named'],
    ['warn', 'pattern', 'either'],
  ])
})
