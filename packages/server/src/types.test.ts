import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { type Context, resourceTemplate, tool, toolResult } from './index.ts'

describe('types are found from schemas and templates', () => {
  const description = 't'

  test('of arguments', () => {
    tool('t', {
      description,
      input: z.object({ a: z.string().transform(Number) }),
      run: ({ a }) => (expectTypeOf(a).toEqualTypeOf<number>(), ''),
    })
    tool('t', {
      description,
      run: (args) => (expectTypeOf(args).toEqualTypeOf<{ readonly [name: string]: never }>(), ''),
    })
  })

  test('of output', () => {
    const output = z.object({ x: z.number() })
    tool('t', { description, output, run: () => ({ x: 1 }) })
    tool('t', { description, output, run: async () => toolResult({ isError: true }) })
    interface Counted {
      readonly x: number
    }
    const counted: Counted = { x: 1 }
    tool('t', { description, output, run: () => toolResult({ structuredContent: counted }) })
    // @ts-expect-error: x is a number
    tool('t', { description, output, run: () => ({ x: 'a' }) })
    // @ts-expect-error: with output, text is no result
    tool('t', { description, output, run: () => 'text' })
    // @ts-expect-error: without output, an object is no result
    tool('t', { description, run: () => ({ x: 1 }) })
  })

  test('of variables', () => {
    resourceTemplate('x://{a}/{+b}', {
      name: 'x',
      // @ts-expect-error: there is no c
      complete: { a: () => [], c: () => [] },
      read: (variables) => (expectTypeOf(variables).toEqualTypeOf<{ readonly a: string; readonly b: string }>(), ''),
    })
  })
})

interface Issue {
  readonly id: number
  readonly assignee?: string | undefined
  readonly labels: readonly string[]
  readonly parent?: Issue
}
declare const issue: Issue

// The functions are compiled, and not called.
describe('steps and checkpoints take JSON by its structure', () => {
  type Id = string & { readonly brand: unique symbol }
  class Fields {
    readonly count = 1
  }

  test('interfaces, optional and nested members, and everything else that JSON can write', () => {
    expectTypeOf((ctx: Context) => ctx.step('k', async () => issue)).returns.resolves.toEqualTypeOf<Issue>()
    expectTypeOf((ctx: Context) => ctx.step('k', () => [issue])).returns.resolves.toEqualTypeOf<Issue[]>()
    expectTypeOf((ctx: Context) => ctx.step('k', (): Issue | null => null)).returns.resolves.toBeNullable()
    expectTypeOf((ctx: Context) => ctx.step('k', () => 'open')).returns.resolves.toEqualTypeOf<'open'>()
    expectTypeOf((ctx: Context) => ctx.step('k', () => {})).returns.resolves.toEqualTypeOf<void>()
    void ((ctx: Context) => [
      ctx.step('k', ({ idempotencyKey }) => ({ idempotencyKey })),
      ctx.step('k', (): [number, Id] => [1, 'a' as Id]),
      ctx.step('k', (): Record<string, Issue> => ({})),
      ctx.step('k', () => new Fields()),
      ctx.step('k', () => JSON.parse('1')),
      ctx.step<Issue>('k', () => issue),
      ctx.checkpoint<Issue | null>('k', null).save(issue),
    ])
  })

  test('an empty list at the beginning of a checkpoint, which is filled later', () => {
    void (async (ctx: Context) => {
      const untyped = ctx.checkpoint('k', { next: 0, ids: [] })
      await untyped.save({ next: untyped.value.next + 1, ids: [...untyped.value.ids, 'a'] })
      const typed = ctx.checkpoint<{ next: number; ids: string[] }>('k', { next: 0, ids: [] })
      expectTypeOf(typed.value.ids).toEqualTypeOf<string[]>()
    })
  })

  test('and nothing that JSON cannot write', () => {
    void ((ctx: Context) => [
      // @ts-expect-error: a Date
      ctx.step('k', () => ({ at: new Date() })),
      // @ts-expect-error: a Map, three levels down
      ctx.step('k', async (): Promise<{ list: { byId: Map<string, Issue> }[] }> => ({ list: [] })),
      // @ts-expect-error: a Set
      ctx.step('k', () => new Set(['a'])),
      // @ts-expect-error: bytes
      ctx.step('k', () => ({ bytes: new Uint8Array(1) })),
      // @ts-expect-error: a bigint
      ctx.step('k', () => ({ count: 1n })),
      // @ts-expect-error: a function that may be absent
      ctx.step('k', (): { then?: () => void } => ({})),
      // @ts-expect-error: a promise that nobody awaited
      ctx.step('k', () => ({ later: Promise.resolve(1) })),
      // @ts-expect-error: an undefined item
      ctx.step('k', () => [1, undefined]),
      // @ts-expect-error: a symbol
      ctx.step('k', () => ({ kind: Symbol('k') })),
      // @ts-expect-error: unknown
      ctx.step('k', (): { body: unknown } => ({ body: 1 })),
      // @ts-expect-error: a Date
      ctx.checkpoint('k', { at: new Date() }),
      // @ts-expect-error: nothing
      ctx.checkpoint('k', undefined),
    ])
  })
})

// Inference through nested conditional types once took gigabytes; what is counted is work, and not time.
test('a hundred tools cost the compiler little more than their schemas', { timeout: 180_000 }, () => {
  const schema = (index: number) =>
    `z.object({ a${index}: z.string(), b: z.array(z.object({ c: z.number().optional() })) })`
  const each = (line: (index: number) => string) => Array.from({ length: 100 }, (_, index) => line(index)).join('\n')
  const schemas = `import { z } from 'zod'\n${each((index) => `export const s${index} = ${schema(index)}`)}`
  const tools = `import { tool } from '../../src/index.ts'\n${schemas}\n${each(
    (index) =>
      `export const t${index} = tool('t${index}', { description: 't', input: s${index}, run: ({ a${index}, b }) => a${index} + (b[0]?.c ?? 0) })`,
  )}`
  const imported = `import { tool } from '../../src/index.ts'\nexport const none = tool\n${schemas}`
  const cost = (instantiations(tools) - instantiations(imported)) / 100
  expect(cost).toBeLessThan(1000)
})

const compiler = join(createRequire(import.meta.url).resolve('typescript/package.json'), '../bin/tsc')

/** How many types the compiler makes of a program that has no errors. */
function instantiations(text: string): number {
  const results = fileURLToPath(new URL('../.results', import.meta.url))
  mkdirSync(results, { recursive: true })
  const folder = mkdtempSync(join(results, 'types-'))
  const file = join(folder, 'program.ts')
  writeFileSync(file, text)
  const options =
    '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2023 --types node --exactOptionalPropertyTypes'
  const flags = [...options.split(' '), '--allowImportingTsExtensions', '--extendedDiagnostics', file]
  try {
    const printed = execFileSync(process.execPath, [compiler, ...flags], { encoding: 'utf8' })
    return Number(/^Instantiations: +(\d+)$/m.exec(printed)?.[1])
  } finally {
    rmSync(folder, { recursive: true })
  }
}
