import type { JsonObject } from '@x/schema'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import {
  type AnySchema,
  createServer,
  DefinitionError,
  prompt,
  resource,
  resourceTemplate,
  type ServerDefinition,
  tool,
} from '../index.ts'

const about = { name: 'demo', version: '1.0.0' }
const run = () => ''
const extension = (identifier: string) => ({ extends: 'server', name: 'a', identifier }) as const
const read = () => ''
const withInput = (input: AnySchema) => ({ tools: [tool('t', { description: 't', input, run })] })
const withOutput = (output: AnySchema) => ({ tools: [tool('t', { description: 't', output, run })] })
const withPrompt = (input: AnySchema) => ({ prompts: [prompt('p', { input, run })] })
const header = (...names: unknown[]): JsonObject => ({
  type: 'object',
  properties: Object.fromEntries(
    names.map((name, index) => [`p${index}`, { type: 'string', 'x-mcp-header': name } as JsonObject]),
  ),
})
const text = (of: Partial<JsonObject>) => ({ type: 'object', properties: { a: of } }) as JsonObject

describe('definitions that are refused, by name and with a reason [BAS-039 BAS-041 BAS-044 VER-004 TOL-010 TOL-016 TOL-019 TOL-020 TOL-021 TOL-022 TOL-023 TOL-024 CCH-014]', () => {
  const cases: [string, Partial<ServerDefinition>, string, string[]][] = [
    ['a server without a name', { name: '' }, 'value', ['server', 'name']],
    ['a server without a version', { version: '' }, 'value', ['server', 'version']],
    ['a negative ttl', { cache: { ttlMs: -1 } }, 'cache', ['ttlMs', '-1']],
    ['a ttl of a fraction', { cache: { ttlMs: 0.5 } }, 'cache', ['ttlMs']],
    ['an extension without a prefix', { extensions: [extension('tasks')] }, 'name', ['extension "tasks"', 'prefix']],
    [
      'an extension with a wrong prefix',
      { extensions: [extension('1a/tasks')] },
      'name',
      ['"1a/tasks"', 'com.example/name'],
    ],
    ['a tool without a name', { tools: [tool('', { description: 't', run })] }, 'name', ['tool ""']],
    ['a tool with an endless name', { tools: [tool('a'.repeat(1001), { description: 't', run })] }, 'name', ['1000']],
    [
      'a tool without a description',
      { tools: [tool('t', { description: '', run })] },
      'value',
      ['tool "t"', 'description'],
    ],
    [
      'a tool without a handler',
      { tools: [tool('t', { description: 't' } as never)] },
      'value',
      ['tool "t"', 'no handler', '`run`'],
    ],
    [
      'a resource without a handler',
      { resources: [resource('a:b', { name: 'b' } as never)] },
      'value',
      ['resource "a:b"', 'no handler', '`read`'],
    ],
    [
      'a resource template among the resources',
      { resources: [resourceTemplate('a:{b}', { name: 'b', read } as never) as never] },
      'name',
      ['resource', '`resourceTemplates`'],
    ],
    [
      'required capabilities as a list',
      { tools: [tool('t', { description: 't', requires: ['sampling'] as never, run })] },
      'value',
      ['tool "t"', '{ sampling: {} }'],
    ],
    [
      'a tool that runs as a task, at a server without tasks',
      { tools: [tool('t', { description: 't', task: 'required', run })] },
      'value',
      ['tool "t"', "task is 'required'", 'extensions: [tasks('],
    ],
    [
      'a tool twice',
      { tools: [tool('t', { description: 't', run }), tool('t', { description: 't', run })] },
      'duplicate',
      ['"t"', 'tools'],
    ],
    [
      'a _meta key of no form',
      { tools: [tool('t', { description: 't', meta: { '-a': 1 }, run })] },
      'name',
      ['tool "t"', '"-a"'],
    ],
    [
      'icons that are not JSON',
      { tools: [tool('t', { description: 't', icons: [10n as never], run })] },
      'value',
      ['tool "t"', 'bigint'],
    ],
    ['an input that is no object', withInput(z.string()), 'schema', ['tool "t", input', 'type']],
    [
      'an input that is a union with a string in it',
      withInput(z.union([z.object({}), z.union([z.object({ a: z.string() }), z.string()])])),
      'schema',
      ['tool "t", input', 'object'],
    ],
    ['an empty input', withInput({}), 'schema', ['tool "t", input', 'type']],
    ['an input that is anything', withInput(z.any()), 'schema', ['tool "t", input', 'type']],
    ['an input with a date', withInput(z.object({ a: z.date() })), 'schema', ['tool "t", input', 'zod', 'Date']],
    [
      'an input of a schema without JSON Schema',
      withInput(v.object({ a: v.string() })),
      'schema',
      ['tool "t", input', 'valibot', 'toStandardJsonSchema'],
    ],
    [
      'an input with a remote $ref',
      withInput({ type: 'object', $ref: 'https://example.com/a.json' }),
      'schema',
      ['tool "t", input', 'https://example.com'],
    ],
    [
      'an input of another dialect',
      withInput({ $schema: 'https://json-schema.org/draft/2019-09/schema', type: 'object' }),
      'schema',
      ['tool "t", input', '2019-09'],
    ],
    [
      'an input that is not valid',
      withInput({ type: 'object', properties: { a: { type: 'text' } } }),
      'schema',
      ['tool "t", input', 'type'],
    ],
    [
      'an input with a broken pattern',
      withInput(text({ type: 'string', pattern: '(' })),
      'schema',
      ['tool "t", input', 'pattern'],
    ],
    [
      'an output with a remote $ref',
      withOutput({ $ref: 'http://127.0.0.1/a' }),
      'schema',
      ['tool "t", output', '127.0.0.1'],
    ],
    ['an output of a schema without JSON Schema', withOutput(v.string()), 'schema', ['tool "t", output', 'valibot']],
    ['an empty header name', withInput(header('')), 'header', ['tool "t"', 'x-mcp-header']],
    ['a header name that is no token', withInput(header('a b')), 'header', ['tool "t"', 'a b']],
    ['a header name with a line break', withInput(header('a\r\nb')), 'header', ['tool "t"']],
    ['a header twice', withInput(header('Region', 'region')), 'header', ['tool "t"', 'region', 'twice']],
    ['a header for a number', withInput(text({ type: 'number', 'x-mcp-header': 'A' })), 'header', ['tool "t"', 'type']],
    [
      'a header in a list',
      withInput(text({ type: 'array', items: { type: 'string', 'x-mcp-header': 'A' } })),
      'header',
      ['tool "t"'],
    ],
    ['a prompt without a name', { prompts: [prompt('', { run })] }, 'name', ['prompt ""']],
    ['a prompt twice', { prompts: [prompt('p', { run }), prompt('p', { run })] }, 'duplicate', ['"p"', 'prompts']],
    [
      'a prompt whose argument is a number',
      withPrompt(z.object({ a: z.number() })),
      'schema',
      ['prompt "p", input', '"a"', 'z.coerce.number()'],
    ],
    [
      'a prompt whose argument is coerced to a boolean, of which every text is true',
      withPrompt(z.object({ a: z.coerce.boolean() })),
      'schema',
      ['prompt "p", input', '"a"', 'z.stringbool()'],
    ],
    [
      'a prompt whose argument is coerced to a date',
      withPrompt(z.object({ a: z.coerce.date() })),
      'schema',
      ['prompt "p", input', 'Date', 'z.iso.datetime().transform('],
    ],
    ['a prompt whose input is no object', withPrompt(z.string()), 'schema', ['prompt "p", input']],
    [
      'completion of no argument',
      { prompts: [prompt('p', { input: z.object({ a: z.string() }), complete: { b: () => [] }, run })] },
      'completion',
      ['prompt "p"', '"b"', 'a'],
    ],
    [
      'a resource without a scheme',
      { resources: [resource('a', { name: 'a', read })] },
      'name',
      ['resource "a"', 'scheme'],
    ],
    ['a resource with a space', { resources: [resource('x:a b', { name: 'a', read })] }, 'name', ['resource "x:a b"']],
    [
      'a resource twice',
      { resources: [resource('x:a', { name: 'a', read }), resource('x:a', { name: 'b', read })] },
      'duplicate',
      ['"x:a"'],
    ],
    [
      'a resource without a name',
      { resources: [resource('x:a', { name: '', read })] },
      'value',
      ['resource "x:a"', 'name'],
    ],
    [
      'a resource of a negative size',
      { resources: [resource('x:a', { name: 'a', size: -1, read })] },
      'value',
      ['resource "x:a"', 'size'],
    ],
    [
      'a resource of a negative ttl',
      { resources: [resource('x:a', { name: 'a', cache: { ttlMs: -1 }, read })] },
      'cache',
      ['resource "x:a"'],
    ],
    [
      'a hidden resource that is public',
      { resources: [resource('x:a', { name: 'a', visibleTo: () => true, cache: { scope: 'public' }, read })] },
      'cache',
      ['resource "x:a"', 'visibleTo'],
    ],
    [
      'a cache scope that does not exist',
      { resources: [resource('x:a', { name: 'a', cache: { scope: 'all' as never }, read })] },
      'cache',
      ['"all"', 'private'],
    ],
    [
      'a template that cannot be matched',
      { resourceTemplates: [resourceTemplate('x:{a}{b}', { name: 'a', read })] },
      'template',
      ['x:{a}{b}', 'touch'],
    ],
    [
      'a template twice',
      {
        resourceTemplates: [
          resourceTemplate('x:{a}', { name: 'a', read }),
          resourceTemplate('x:{a}', { name: 'b', read }),
        ],
      },
      'duplicate',
      ['"x:{a}"'],
    ],
    [
      'completion of no variable',
      { resourceTemplates: [resourceTemplate<string>('x:{a}', { name: 'a', complete: { b: () => [] }, read })] },
      'completion',
      ['x:{a}', '"b"'],
    ],
  ]

  test.each(cases)('%s', (_, given, code, parts) => {
    let thrown: unknown
    try {
      createServer({ ...about, ...given })
    } catch (error) {
      thrown = error
    }
    expect(thrown).toBeInstanceOf(DefinitionError)
    expect(thrown).toMatchObject({ code })
    for (const part of parts) expect((thrown as Error).message).toContain(part)
  })

  test('what refers to itself is refused before the stack ends', () => {
    const input: Record<string, unknown> = { type: 'object' }
    input['properties'] = { self: input }
    expect(() => createServer({ ...about, ...withInput(input as JsonObject) })).toThrow(/refers to itself/)
  })
})
