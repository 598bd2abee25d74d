import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { guidePaths } from './guides.ts'

const repository = new URL('../../../../', import.meta.url)
const program = `import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'

const server = new McpServer({ name: 'demo', version: '1.0.0' })
`
const migrated = `import { legacy } from '@x/legacy'
import { createServer } from '@x/server'

const server = createServer({ name: 'demo', version: '1.0.0', extensions: [legacy()] })
`

let folder = ''
let file = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-migrate-'))
  file = join(folder, 'server.ts')
  await writeFile(file, program)
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('migrate', () => {
  test('prints the difference, and writes nothing', async () => {
    const { code, out } = await runCommand(['migrate', file])
    expect([code, await readFile(file, 'utf8')]).toEqual([0, program])
    expect(out).toBe(
      `--- ${file}
+++ ${file}
@@ -1 +1 @@
-import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
+import { legacy } from '@x/legacy'
+import { createServer } from '@x/server'
 
-const server = new McpServer({ name: 'demo', version: '1.0.0' })
+const server = createServer({ name: 'demo', version: '1.0.0', extensions: [legacy()] })
 
${file}: no place to check

npm install @x/legacy @x/server
Nothing was written. Add --write to change the files.
`,
    )
  })

  test('writes the file with --write, and finds nothing the next time', async () => {
    const first = await runCommand(['migrate', file, '--write'])
    expect([first.code, await readFile(file, 'utf8')]).toEqual([0, migrated])
    const second = await runCommand(['migrate', file, '--write'])
    expect([second.code, second.out]).toEqual([0, `${file}: no code of the official SDK\n`])
  })

  test('names what is left, with the line in the written file, and ends with code 1', async () => {
    await writeFile(file, `${program}\naddTools(server)\n`)
    const { code, out } = await runCommand(['migrate', file, '--write'])
    expect(code).toBe(1)
    expect(out).toContain(`${file}:6  Return definitions from the function that takes the server`)
    expect(out).toContain('/docs/guides/from-the-official-sdk.md#from-version-1')
  })

  test('installs the package of a function that is left to the author', async () => {
    await writeFile(file, await readFile(new URL('tooling/e2e/test/interop/travel-v2.ts', repository)))
    const { out } = await runCommand(['migrate', file])
    expect(out).toContain('Write httpHandler(server) for requests of the web, or nodeHandler(server).')
    expect(out).toContain('\nnpm install @x/legacy @x/server @x/transport-http\n')
  })

  test('writes JSON for programs', async () => {
    const { code, json } = await runCommand(['migrate', file, '--json'])
    expect([code, json()]).toMatchObject([
      0,
      { written: false, install: ['@x/legacy', '@x/server'], files: [{ file, changed: true, leftovers: [] }] },
    ])
  })

  test.each([
    ['a file that does not exist', 'none.ts', 1, 'none.ts cannot be read'],
    ['a file of another kind', 'notes.md', 2, 'notes.md is no TypeScript or JavaScript file'],
    ['a syntax error', 'broken.ts', 1, 'broken.ts:2 is not valid TypeScript: Variable declaration expected.'],
  ])('rejects %s, and writes no other file', async (_, name, expected, message) => {
    const bad = join(folder, name)
    if (name === 'broken.ts') await writeFile(bad, "import '@modelcontextprotocol/sdk/types.js'\nconst = 1\n")
    const { code, err } = await runCommand(['migrate', file, bad, '--write'])
    expect([code, err]).toEqual([expected, expect.stringContaining(message)])
    expect(await readFile(file, 'utf8')).toBe(program)
  })

  test('makes of the program in the guide the one that its test runs', async () => {
    const programs = new URL('tooling/e2e/test/interop/', repository)
    await writeFile(file, await readFile(new URL('served-v1.ts', programs)))
    const { out } = await runCommand(['migrate', file, '--write'])
    expect(out).toContain('1 place to rewrite or check by hand')
    expect(await format(await readFile(file))).toBe(await readFile(new URL('served.ts', programs), 'utf8'))
  })
})

/** Formats a text as the repository does. */
function format(text: Buffer): Promise<string> {
  const biome = fileURLToPath(new URL('node_modules/.bin/biome', repository))
  const config = fileURLToPath(new URL('tooling/lint', repository))
  return new Promise((resolve, reject) => {
    const child = execFile(
      biome,
      ['format', `--config-path=${config}`, '--stdin-file-path=server.ts'],
      (error, stdout) => (error === null ? resolve(stdout) : reject(error)),
    )
    child.stdin?.end(text)
  })
}

test.each(guidePaths)('the section %s exists', async (path) => {
  const [page = '', anchor] = path.split('#')
  const text = await readFile(new URL(`docs/guides/${page}`, repository), 'utf8')
  const anchors = [...text.matchAll(/^#+ (.+)$/gm)].map(([, title = '']) =>
    title.toLowerCase().replaceAll(/[^\w]+/g, '-'),
  )
  expect(anchor === undefined || anchors.includes(anchor)).toBe(true)
})
