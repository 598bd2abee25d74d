import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { markPure } from './mark-pure.mjs'

/** @typedef {null | string | { readonly [condition: string]: Target }} Target What an entry of `exports` points at. */

/**
 * Writes what a package publishes to its `dist`: a file for each entry of `publishConfig.exports` and each program of
 * `bin`, made of the source of the same name, and one for whatever several of them share. Other packages stay imports.
 * What an earlier build left is removed.
 * @param {string} directory The folder of the package.
 */
export async function bundlePackage(directory) {
  const dist = join(directory, 'dist')
  const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  const written = await bundle(directory, entriesOf({ ...manifest.publishConfig.exports, ...manifest.bin }))
  for (const { path, text } of written) {
    await mkdir(dirname(path), { recursive: true })
    await writeFile(path, path.endsWith('.js') ? markPure(text) : text)
  }
  await removeOthers(dist, new Set(written.map(({ path }) => path)))
}

/**
 * The names of the published files, relative to `dist` and without an extension.
 * @param {Target} target
 * @returns {string[]}
 */
function entriesOf(target) {
  if (target === null) return []
  if (typeof target !== 'string') {
    const targets = Object.entries(target).filter(([condition]) => condition !== 'types')
    return [...new Set(targets.flatMap(([, inner]) => entriesOf(inner)))]
  }
  const name = /^\.\/dist\/(.+)\.js$/.exec(target)?.[1]
  if (name === undefined) throw new Error(`publishConfig.exports names "${target}"; name a file like ./dist/index.js`)
  return [name]
}

/**
 * @param {string} directory
 * @param {readonly string[]} entries
 */
async function bundle(directory, entries) {
  const { outputFiles } = await build({
    absWorkingDir: directory,
    entryPoints: Object.fromEntries(entries.map((name) => [name, `src/${name}.ts`])),
    outdir: 'dist',
    bundle: true,
    // All entries at once, so that a module stands in one file however many import it: error classes and WeakMaps are
    // compared by identity.
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    target: 'node20.19',
    // Nothing is minified, and maps carry the source: a stack trace is readable, and a debugger steps into it.
    sourcemap: true,
    charset: 'utf8',
    write: false,
    logLevel: 'warning',
  })
  return outputFiles
}

/**
 * @param {string} dist
 * @param {ReadonlySet<string>} written
 */
async function removeOthers(dist, written) {
  const files = await readdir(dist, { recursive: true })
  const scripts = files.filter((file) => /\.js(\.map)?$/.test(file)).map((file) => join(dist, file))
  await Promise.all(scripts.filter((file) => !written.has(file)).map((file) => rm(file)))
}
