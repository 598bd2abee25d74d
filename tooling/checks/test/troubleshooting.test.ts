import { expect, test } from 'vitest'
import { checkTroubleshooting } from '../src/troubleshooting.mjs'
import { tree } from './tree.ts'

const head = '| code | message | what to change |\n| --- | --- | --- |\n'
const problemsOf = (source: Readonly<Record<string, string>>, rows: string): string =>
  checkTroubleshooting(tree({ 'docs/troubleshooting.md': `# Troubleshooting\n\n${head}${rows}\n`, ...source })).join(
    '\n',
  )

const server = 'packages/transport-http/src/server/a.ts'

test.each([
  ['a code of JSON-RPC', { 'packages/a/src/a.ts': 'export const code = -32099' }, '| -32099'],
  ['a status', { [server]: 'export const answer = { status: 418 }' }, '| 418 |'],
  [
    'a code of an error',
    { 'packages/a/src/a.ts': "export type ClientErrorCode =\n  | 'odd'\nthrow new ClientError(\n'odd')" },
    '| `odd` |',
  ],
  ['a message of mcpx', { 'packages/cli/src/a.ts': "new CliError('usage', `No ${name} here`)" }, 'No … here'],
])('%s that the page lacks is a problem', (_, source, missing) => {
  expect(problemsOf(source, '')).toContain(`docs/troubleshooting.md lacks ${missing}`)
  expect(problemsOf(source, `${missing.startsWith('|') ? missing : `| ${missing}`} | | |`)).toBe('')
})

test('a number in a comment or a test is not a code', () => {
  const source = { 'packages/a/src/a.ts': '/** -32099 */\n// -32098\n', 'packages/a/src/a.test.ts': 'const a = -32097' }
  expect(problemsOf(source, '')).toBe('')
})

test('a message that no package has is a problem', () => {
  const source = { 'packages/a/src/a.ts': 'throw new Error(`Unknown tool: ${name}`)' }
  expect(problemsOf(source, '| 1 | `Unknown tool: …` | |')).toBe('')
  expect(problemsOf(source, '| 1 | `Unknown prompt: …` | |')).toContain('has the message "Unknown prompt: …"')
})

test('a code that nothing throws is a problem', () => {
  const source =
    "export type ClientErrorCode = 'odd' | 'even'\nif (isClientError(e) && e.code === 'odd') throw new ClientError('even')"
  const rows = '| `odd` | | |\n| `even` | | |'
  expect(problemsOf({ 'packages/a/src/a.ts': source }, rows)).toMatch(/^nothing throws an error with the code odd\n.*$/)
})
