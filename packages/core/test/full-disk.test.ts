import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

const program = `
import { createFile, lockFile, replaceFile } from './node.ts'
const folder = process.argv[2] + '/'
const limits = { elsewhereMs: Infinity, runningMs: Infinity }
const taken = () => Promise.reject(Object.assign(new Error(), { code: 'taken' }))
const attempts = [
  () => lockFile(folder + 'lock', limits, taken),
  () => lockFile(folder + 'lock', limits, taken),
  () => createFile(folder + 'new', 'text', 0o600),
  () => replaceFile(folder + 'old', 'new text', 0o600),
]
for (const attempt of attempts) await attempt().catch(({ code }) => console.log(code))
`

// The limit of the size of a file takes the place of a full disk: a file can be created, and nothing be written.
test.runIf(process.platform !== 'win32')(
  'a disk that is full leaves no empty file, lock or half of a text',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'full-disk-'))
    try {
      const outfile = join(folder, 'program.mjs')
      const resolveDir = dirname(fileURLToPath(new URL('../src/node.ts', import.meta.url)))
      const stdin = { contents: program, resolveDir, loader: 'ts' } as const
      await build({ stdin, bundle: true, outfile, format: 'esm', platform: 'node' })
      await writeFile(join(folder, 'old'), 'old text')
      const child = spawn('sh', ['-c', `trap '' XFSZ; ulimit -f 0; exec "$@"`, 'sh', process.execPath, outfile, folder])
      let printed = ''
      child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
      await once(child, 'close')
      expect(printed).toBe('EFBIG\n'.repeat(4))
      expect((await readdir(folder)).toSorted()).toEqual(['old', 'program.mjs'])
      expect(await readFile(join(folder, 'old'), 'utf8')).toBe('old text')
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)
