import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { createOfferingServer } from '../testing/offering-server.ts'
import { runCommand } from '../testing/run-command.ts'
import { joinTargetWords } from './target.ts'

const folder = mkdtempSync(join(tmpdir(), 'mcpx-test-'))

/** Writes a program, and returns the words that start it. */
function program(source: string): readonly string[] {
  const path = join(folder, `${Math.random().toString(36).slice(2)}.cjs`)
  writeFileSync(path, source)
  return ['--', process.execPath, path]
}

/** A server of revision 2026-07-28 with two pages of tools, which writes 30 lines to stderr. */
const twoPages = `
for (let i = 1; i <= 30; i++) console.error('line ' + i)
const list = { resultType: 'complete', ttlMs: 0, cacheScope: 'private' }
const results = {
  'server/discover': { ...list, supportedVersions: ['2026-07-28'], capabilities: { tools: {} } },
  'tools/call': { resultType: 'complete', content: [{ type: 'text', text: 'no' }], isError: true },
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  const tool = { name: params?.cursor ? 'second' : 'first', inputSchema: { type: params?.cursor ? 'string' : 'object' } }
  const page = { ...list, tools: [params?.cursor ? tool : { ...tool, title: 7 }], ...(params?.cursor ? {} : { nextCursor: 'c' }) }
  const result = method === 'tools/list' ? page : method === 'tools/call' && params.name === 'none' ? undefined : results[method]
  const answer = result ? { result } : { error: { code: method === 'tools/call' ? -32602 : -32601, message: 'no' } }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})`

describe('a command that fails', () => {
  test('at its start is started once, and its first lines are shown', async () => {
    const starts = join(folder, 'starts')
    const write = `require('node:fs').appendFileSync(${JSON.stringify(starts)}, 'x')`
    const crash = program(`${write}; console.error('No DATABASE_URL'); process.exit(3)`)
    for (const name of ['list', 'call', 'doctor']) {
      const { code, out, err } = await runCommand([name, ...(name === 'call' ? ['echo'] : []), ...crash])
      expect([code, readFileSync(starts, 'utf8')]).toEqual([1, 'x'])
      writeFileSync(starts, '')
      expect(err).toContain('The server wrote to its standard error:\n  No DATABASE_URL\n')
      expect(out + err).toContain('ended with code 3')
      expect(err.match(/No DATABASE_URL/g)).toHaveLength(1)
    }
  })

  test('in a tool shows the last 20 lines of its standard error, and all with --verbose', async () => {
    const words = program(twoPages)
    const { code, out, err } = await runCommand(['call', 'first', ...words])
    expect([code, out]).toEqual([5, 'The tool returned an error:\nno\n'])
    expect(err).toMatch(
      /^The server wrote to its standard error \(the last 20 of 30 lines; --verbose shows all\):\n {2}line 11\n/,
    )
    const verbose = await runCommand(['call', 'first', '--verbose', ...words])
    expect(verbose.err).toMatch(/^ {2}line 1\n {2}line 2\n/)
  })
})

test('doctor examines a command, and reads all pages of its tools', async () => {
  const { code, out, err } = await runCommand(['doctor', ...program(twoPages)])
  expect(code).toBe(1)
  expect(out).toMatch(/^ok {4}discover {7}The server speaks 2026-07-28\.$/m)
  const problems =
    /tools\/list has a number at tools\[0\]\.title, where a string belongs; the tool "second" has no schema of an object;/
  expect(out.replaceAll(/\s+/g, ' ')).toMatch(problems)
  expect(out).toMatch(/^skip {2}host {11}Only for a server over HTTP\.$/m)
  expect(err).toContain('line 30')
})

describe('a URL where nothing listens', () => {
  test.each(['list', 'call'])('fails %s at once, and asks if the server runs', async (name) => {
    const { code, err } = await runCommand([name, 'http://127.0.0.1:1/mcp', ...(name === 'call' ? ['echo'] : [])])
    expect([code, err]).toEqual([1, expect.stringContaining('is the server running?')])
  })

  test('is waited for with --wait', async () => {
    const reserved = createHttpServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => reserved.once('listening', resolve))
    const address = reserved.address()
    const port = typeof address === 'object' ? (address?.port ?? 0) : 0
    await new Promise((resolve) => reserved.close(resolve))
    const call = runCommand(['call', `http://127.0.0.1:${port}/mcp`, 'copy', '--args', '{"count":1}', '--wait'])
    await using _http = await serveHttp(createOfferingServer(), { port })
    expect(await call).toMatchObject({ code: 0, out: '1 files\n' })
  })
})

describe('--answers', () => {
  const answersFile = (value: unknown): string => {
    const path = join(folder, 'answers.json')
    writeFileSync(path, typeof value === 'string' ? value : JSON.stringify(value))
    return path
  }

  test.each([
    ['fields', { name: { name: 'Ada' } }, 0, 'Hello, Ada!'],
    ['the value of the only field', { name: 'Ada' }, 0, 'Hello, Ada!'],
    ['a whole answer', { name: { action: 'accept', content: { name: 'Ada' } } }, 0, 'Hello, Ada!'],
    ['a refusal', { name: { action: 'decline' } }, 5, 'declined'],
    ['a refusal in a word', { name: 'cancel' }, 5, 'dismissed'],
    [
      'another key',
      { names: 'Ada' },
      1,
      'Add to --answers: {"name":{"name":"…"}}; greet asks "name": Who are you?\n  --answers has "names": did you mean "name"?',
    ],
    [
      'a misspelt field',
      { name: { nmae: 'Ada' } },
      2,
      '"nmae" is not a field of "name" in --answers: did you mean "name"?',
    ],
    ['a misspelt action', { name: { acton: 'decline' } }, 2, 'did you mean "action"?; its fields are name'],
    ['a nested field', { name: { name: {} } }, 2, 'name of "name" in --answers is not a text'],
    ['no JSON', '{name:1}', 2, 'is not a JSON object, such as'],
  ] as const)('with %s', async (_, value, expectedCode, text) => {
    await using http = await serveHttp(createOfferingServer())
    const { code, out, err } = await runCommand(['call', http.url, 'greet', '--answers', answersFile(value)])
    expect([code, out + err]).toEqual([expectedCode, expect.stringContaining(text)])
    expect(err).not.toMatch(/\n\s+at /)
  })

  test('with a missing file names it, and says what to write', async () => {
    const { code, err } = await runCommand(['call', 'node x', 'greet', '--answers', 'absent.json'])
    expect([code, err]).toEqual([2, expect.stringContaining('absent.json cannot be read (ENOENT); give --answers')])
  })

  test.each([
    ['place', 'decline', 5, 'declined'],
    ['page', 'decline', 5, 'declined'],
    ['place', 'declined', 2, 'must be "decline", "cancel" or an object such as {"street":"…","city":"…"}'],
    ['page', 'accept', 2, 'must be "decline", "cancel" or an object such as {"action":"accept"}'],
    ['isGift', 'no', 2, 'must be "decline", "cancel" or an object such as {"isGift":true}'],
    ['isGift', false, 0, '{"isGift":false}'],
    ['verdict', 'decline', 0, '{"verdict":"decline"}'],
  ] as const)('for %s may be %j', async (key, answer, expectedCode, text) => {
    const schemas = {
      place: z.object({ street: z.string(), city: z.string() }),
      isGift: z.object({ isGift: z.boolean() }),
      verdict: z.object({ verdict: z.enum(['approve', 'decline']) }),
    }
    const ask = tool('ask', {
      description: 'Asks',
      run: async (_, ctx) =>
        key === 'page'
          ? (await ctx.elicitUrl(key, { message: 'Look', url: 'https://example.com/' }), 'seen')
          : JSON.stringify(await ctx.elicit(key, { message: 'What?', schema: schemas[key] })),
    })
    await using http = await serveHttp(createServer({ name: 's', version: '1.0.0', tools: [ask], log: () => {} }))
    // A file with the same object is read in the tests above.
    const { code, out, err } = await runCommand([
      'call',
      http.url,
      'ask',
      '--answers',
      JSON.stringify({ [key]: answer }),
    ])
    expect([code, out + err]).toEqual([expectedCode, expect.stringContaining(text)])
  })

  test('of a call without them are shown as a file, which answers the question as it is', async () => {
    const schema = z.object({
      name: z.string().min(3).max(20),
      mail: z.email(),
      day: z.iso.date(),
      size: z.enum(['small', 'large']),
      colours: z.array(z.enum(['red', 'blue'])).min(2),
      count: z.number().int().min(7).max(9),
      share: z.number().max(0.5),
      isGift: z.boolean(),
      note: z.string().optional(),
      place: z.string().default('here'),
    })
    const order = tool('order', {
      description: 'Orders',
      run: async (_, ctx) => JSON.stringify(await ctx.elicit('order', { message: 'What?', schema })),
    })
    const tour = tool('tour', {
      description: 'Opens a page',
      run: async (_, ctx) => (await ctx.elicitUrl('tour', { message: 'Look', url: 'https://example.com/' }), 'seen'),
    })
    await using http = await serveHttp(
      createServer({ name: 's', version: '1.0.0', tools: [order, tour], log: () => {} }),
    )
    for (const name of ['order', 'tour']) {
      const unanswered = await runCommand(['call', http.url, name])
      const [, file = ''] = /A file that answers this:\n +(\{.*\})\n$/.exec(unanswered.err) ?? []
      const answered = await runCommand(['call', http.url, name, '--answers', answersFile(file)])
      expect([unanswered.code, answered.code, answered.err]).toEqual([1, 0, ''])
    }
  })
})

test.each([
  [
    ['doctor', '--json', '--', 'node', 'my server.js'],
    ['doctor', '"node" "my server.js"', '--json'],
  ],
  [
    ['call', 'echo', '--', 'https://example.com/mcp'],
    ['call', 'https://example.com/mcp', 'echo'],
  ],
  [
    ['list', '--', '/with space/run'],
    ['list', '"/with space/run"'],
  ],
  [
    ['list', '--', 'sh', '-c', 'echo "a"'],
    ['list', `"sh" "-c" 'echo "a"'`],
  ],
  [
    ['keys', '--', 'new'],
    ['keys', '--', 'new'],
  ],
])('the words %j are %j', (words, joined) => {
  expect(joinTargetWords(words)).toEqual(joined)
})

test.each([
  ['tasks sh', 'show'],
  ['tasks list --old', '--older-than'],
  ['comp', 'completion'],
  ['call --answers x --ti', '--timeout'],
])('bash completes "mcpx %s" to %s', async (line, expected) => {
  const { out } = await runCommand(['completion', 'bash'])
  const script = `${out}\nCOMP_WORDS=(mcpx ${line}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _mcpx; echo "\${COMPREPLY[@]}"`
  expect(execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim()).toBe(expected)
})

test.each([
  ['zsh', /'tasks list'\) candidates=\(.*--older-than.*\) ;;/],
  ['fish', /^complete -c mcpx -n '__mcpx_at \\'tasks list\\'' -l older-than -d '/m],
])('%s completes the same commands and options', async (shell, line) => {
  expect(await runCommand(['completion', shell])).toMatchObject({ code: 0, out: expect.stringMatching(line) })
})
