import { expect, test } from 'vitest'
import { checkMentions } from '../src/mentions.mjs'
import { tree } from './tree.ts'

const source = `
export interface ServerOptions { readonly maxCalls?: number; readonly mode?: 'one' | 'two' }
export interface McpServer { close(): void }
/** Starts a server. */
export function createServer(options: ServerOptions): number { return options.maxCalls ?? 0 }
export function other(next: number): number { return next }
`

const found = (files: Readonly<Record<string, string>>): readonly string[] =>
  checkMentions(tree({ 'packages/a/src/a.ts': source, ...files })).map((problem) => problem.split('\n')[0] ?? '')

const missing = [
  ['an identifier', '`createClient`', 'names `createClient`, which does not exist'],
  ['a function that is called', '`createClient()`', 'names createClient in `createClient()`, which does not exist'],
  ['a member', '`options.maxTasks`', 'names maxTasks in `options.maxTasks`, which does not exist'],
  ['an option', '`maxTasks: 1`', 'names maxTasks in `maxTasks: 1`, which does not exist'],
  [
    'a key that is no option',
    '`createServer({ next: 1 })`',
    'names next in `createServer({ next: 1 })`, which does not exist',
  ],
  ['a file', '`src/b.ts`', 'names `src/b.ts`, which does not exist'],
] as const

const present = [
  '`createServer`',
  '`createServer({ maxCalls: 1 })`',
  '`ServerOptions.mode`',
  "`{ mode: 'two' }`",
  '`server.close()`',
  '`src/a.ts`',
  '`AbortSignal`',
  '`npm install @x/nothing`',
  '`Mcp-Nothing`',
]

test('a name in a page that does not exist is reported', () => {
  const page = [...missing.map(([, span]) => span), ...present].join('\n\n')
  expect(found({ 'docs/guides/a.md': page })).toEqual(
    missing.map(([, , problem], index) => `docs/guides/a.md:${2 * index + 1} ${problem}`),
  )
})

test('a name in a comment that neither its function has nor the packages declare is reported', () => {
  const text = `/** Doubles \`next\`, and not \`value\`; see \`createServer\` and \`undefined\`. */
export function double(value: number): number { return 2 * value }
// A line names \`nothing\`.
export const two = 2
`
  expect(found({ 'packages/a/src/b.ts': text })).toEqual([
    'packages/a/src/b.ts:1 names `next`, which does not exist',
    'packages/a/src/b.ts:3 names `nothing`, which does not exist',
  ])
})

test('blocks of code are ignored, and a missing file in a diagram is reported', () => {
  const page = '```sh\n`nothing` nothing.ts\n```\n\n```\na.ts ──► b.ts\n```\n'
  expect(found({ 'docs/guides/a.md': page })).toEqual(['docs/guides/a.md:6 names `b.ts`, which does not exist'])
})
