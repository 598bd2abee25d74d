import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { foreignVersions } from './create-project.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-init-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const common = ['.gitignore', 'README.md', 'package.json', 'server.json', 'src', 'tsconfig.json']

describe.each([
  ['http', ['.dockerignore', 'Dockerfile'], 'main.ts'],
  ['stdio', ['manifest.json'], 'main.ts'],
  ['worker', ['wrangler.jsonc'], 'worker.ts'],
] as const)('a project of the kind %s', (kind, files, entry) => {
  test('has its files, without placeholders, and one name and version in all manifests', async () => {
    const path = join(folder, 'My Server')
    const { code, out } = await runCommand(['init', path, `--${kind}`])
    expect([code, out]).toEqual([0, expect.stringContaining('npm install\n  npm test\n  npm start')])
    expect((await readdir(path)).toSorted()).toEqual([...common, ...files].toSorted())
    expect((await readdir(join(path, 'src'))).toSorted()).toEqual([entry, 'server.test.ts', 'server.ts'].toSorted())
    const texts = await Promise.all(
      [...common.filter((name) => name !== 'src'), ...files, 'src/server.ts'].map((name) =>
        readFile(join(path, name), 'utf8'),
      ),
    )
    for (const text of texts) expect(text).not.toMatch(/\{\{|undefined/)
    const manifest = JSON.parse(await readFile(join(path, 'package.json'), 'utf8'))
    const registered = JSON.parse(await readFile(join(path, 'server.json'), 'utf8'))
    expect(manifest).toMatchObject({ name: 'my-server', mcpName: registered.name, version: registered.version })
    if (kind !== 'stdio') return
    const bundle = JSON.parse(await readFile(join(path, 'manifest.json'), 'utf8'))
    expect(bundle).toMatchObject({ name: manifest.name, version: manifest.version })
    expect(registered.packages[0]).toMatchObject({ identifier: manifest.name, version: manifest.version })
  })

  test('has links with which a person adds it to a host', async () => {
    await runCommand(['init', join(folder, 'items'), `--${kind}`])
    const readme = await readFile(join(folder, 'items', 'README.md'), 'utf8')
    const [, vscode = '', cursor = ''] = /\[VS Code\]\((\S+)\) · \[Cursor\]\((\S+)\)/.exec(readme) ?? []
    const [forVscode, forCursor] = [vscode, cursor].map((link) => new URL(link).searchParams.get('config') ?? '')
    const server =
      kind === 'stdio' ? { command: 'npx', args: ['-y', 'items'] } : { url: expect.stringMatching(/\/mcp$/) }
    expect(JSON.parse(forVscode ?? '')).toMatchObject(server)
    expect(JSON.parse(Buffer.from(forCursor ?? '', 'base64').toString('utf8'))).toEqual(server)
    expect(readme).toContain('claude mcp add')
  })
})

test('the versions of other packages are those of the tests of this workspace', async () => {
  const manifest = JSON.parse(await readFile(new URL('../../package.json', import.meta.url), 'utf8'))
  for (const name of ['@types/node', 'typescript', 'zod'])
    expect([name, foreignVersions[name]]).toEqual([name, `^${manifest.devDependencies[name].replace('^', '')}`])
})

test.each([
  ['no kind', [], 2, 'Write one of'],
  ['two kinds', ['--http', '--stdio'], 2, 'Write one of'],
] as const)('%s is wrong usage', async (_, args, expectedCode, message) => {
  const { code, err } = await runCommand(['init', join(folder, 'new'), ...args])
  expect([code, err]).toEqual([expectedCode, expect.stringContaining(message)])
})

test('a folder with files is left as it is', async () => {
  await writeFile(join(folder, 'notes.txt'), 'mine')
  const { code, err } = await runCommand(['init', folder, '--http'])
  expect([code, err, await readdir(folder)]).toEqual([1, expect.stringContaining('has files'), ['notes.txt']])
})
