import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ceilings } from './ceilings.ts'
import { installedFiles } from './installed-files.ts'

const bench = fileURLToPath(new URL('../', import.meta.url))

test.each(ceilings.map((row) => [row.title, row] as const))(
  'the install of %s stays within its limits',
  async (_title, row) => {
    const { packages, bytes } = await installedFiles(row.names, bench)
    expect(packages.length, packages.join(', ')).toBeLessThanOrEqual(row.packages)
    expect(bytes).toBeLessThanOrEqual(row.bytes)
    // A ceiling far above the real size would detect no growth.
    expect(packages.length).toBeGreaterThan(row.packages - 2)
    expect(bytes).toBeGreaterThan(row.bytes * 0.8)
  },
)

describe('the count of installed packages and bytes', () => {
  let folder = ''
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'installed-files-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const write = async (path: string, manifest: object, more = 0): Promise<number> => {
    const text = JSON.stringify({ version: '1.0.0', ...manifest })
    await mkdir(join(folder, path, 'dist'), { recursive: true })
    await writeFile(join(folder, path, 'package.json'), text)
    await writeFile(join(folder, path, 'dist/index.js'), 'x'.repeat(more))
    return text.length + more
  }

  test('has a shared dependency once, and no unpublished file of a workspace package', async () => {
    const ours = await write('ours', { name: 'ours', files: ['dist'], dependencies: { first: '*', second: '*' } }, 1000)
    await writeFile(join(folder, 'ours/source.ts'), 'not published')
    await mkdir(join(folder, 'node_modules'))
    await symlink(join(folder, 'ours'), join(folder, 'node_modules/ours'))
    const first = await write('node_modules/first', { name: 'first', dependencies: { second: '*' } }, 300)
    const second = await write('node_modules/second', { name: 'second', dependencies: { first: '*' } }, 20)
    const { packages, bytes } = await installedFiles(['ours', 'first'], folder)
    expect(packages).toEqual(['first@1.0.0', 'ours@1.0.0', 'second@1.0.0'])
    expect(bytes).toBe(ours + first + second)
  })

  test('rejects with the name of a missing package', async () => {
    await expect(installedFiles(['nowhere'], folder)).rejects.toThrow('nowhere is not installed')
  })
})
