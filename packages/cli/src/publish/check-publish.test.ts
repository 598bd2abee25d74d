import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { runCommand } from '../testing/run-command.ts'

let folder = ''
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mcpx-publish-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const npm = { name: 'items', version: '1.2.0', mcpName: 'io.github.ada/items', bin: './main.mjs' }
const npmPackage = { registryType: 'npm', identifier: 'items', version: '1.2.0', transport: { type: 'stdio' } }
const registry = { name: 'io.github.ada/items', version: '1.2.0', packages: [npmPackage] }

/** A program without dependencies that answers as a server of revision 2026-07-28. */
const program = (info: object): string => `#!/usr/bin/env node
import { createInterface } from 'node:readline'
for await (const line of createInterface({ input: process.stdin })) {
  const { id } = JSON.parse(line)
  if (id === undefined) continue
  const _meta = { 'io.modelcontextprotocol/serverInfo': ${JSON.stringify(info)} }
  const result = { resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: {}, ttlMs: 0, cacheScope: 'public', _meta }
  console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
}
`

/** Writes a project, and returns the findings by their ids. */
async function examine(files: Readonly<Record<string, object | string>>): Promise<Readonly<Record<string, string>>> {
  for (const [name, content] of Object.entries(files))
    await writeFile(join(folder, name), typeof content === 'string' ? content : JSON.stringify(content))
  const { json } = await runCommand(['doctor', folder, '--publish', '--json'])
  const { checks } = Object(json())
  return Object.fromEntries(
    checks.map((check: Record<string, string>) => [check['id'], `${check['status']}: ${check['found']}`]),
  )
}

test('a package whose manifests agree starts by npx, and names itself as they do', async () => {
  const main = program({ name: 'items', version: '1.2.0' })
  const bundle = { version: '1.2.0' }
  expect(
    await examine({ 'package.json': npm, 'server.json': registry, 'manifest.json': bundle, 'main.mjs': main }),
  ).toEqual({
    registry: 'ok: package.json and server.json describe io.github.ada/items 1.2.0.',
    bundle: 'ok: The bundle has the version 1.2.0, too.',
    start: 'ok: The packed package starts by npx, as items 1.2.0.',
  })
})

test('a server with another version than its package is named', async () => {
  const main = program({ name: 'items', version: '1.1.0' })
  const { start } = await examine({ 'package.json': npm, 'main.mjs': main })
  expect(start).toBe('wrong: The version of package.json is "1.2.0", and the version of the server is "1.1.0".')
})

test('a program that the package does not contain is named', async () => {
  const { start } = await examine({ 'package.json': { ...npm, files: ['dist'] } })
  expect(start).toMatch(/^wrong: The packed package does not start by npx/)
})

test.each([
  ['another name', { ...registry, name: 'io.github.eve/items' }, 'mcpName of package.json'],
  ['another version', { ...registry, version: '1.1.0' }, 'version of server.json'],
  ['another package', { ...registry, packages: [{ ...npmPackage, identifier: 'item' }] }, 'identifier in server.json'],
  ['an older package', { ...registry, packages: [{ ...npmPackage, version: '1.1.0' }] }, 'package in server.json'],
])('an entry of the registry with %s is named', async (_, entry, text) => {
  const findings = await examine({ 'package.json': { ...npm, private: true }, 'server.json': entry })
  expect(findings).toMatchObject({ registry: expect.stringContaining(text), start: expect.stringContaining('skipped') })
})

test('the placeholder of a new project is named', async () => {
  const mcpName = 'io.github.YOUR-NAME/items'
  const manifest = { ...npm, mcpName, private: true }
  const { registry: finding } = await examine({
    'package.json': manifest,
    'server.json': { ...registry, name: mcpName },
  })
  expect(finding).toContain('placeholder YOUR-NAME')
})

test('a folder without a package is wrong usage', async () => {
  const { code, err } = await runCommand(['doctor', folder, '--publish'])
  expect([code, err]).toEqual([2, expect.stringContaining('has no package.json')])
})
