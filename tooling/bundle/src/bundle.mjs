import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { markPure } from './mark-pure.mjs'

/** @typedef {null | string | { readonly [condition: string]: Target }} Target What an entry of `exports` points at. */

/**
 * @typedef {object} BundleOptions
 * @property {boolean} [joined] Writes the modules of the entry `index` to one file, instead of a file for each set of
 *   entries that share some. Node takes longer to find and link a file than to compile what other entries need of it.
 */

/**
 * Writes what a package publishes to its `dist`: a file for each entry of `publishConfig.exports` and each program of
 * `bin`, made of the source of the same name, and one for whatever several of them share. Other packages stay imports.
 * What an earlier build left is removed.
 * @param {string} directory The folder of the package.
 * @param {BundleOptions} [options]
 */
export async function bundlePackage(directory, options = {}) {
  const dist = join(directory, 'dist')
  const manifest = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  const written = await bundle(directory, entriesOf({ ...manifest.publishConfig.exports, ...manifest.bin }), options)
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
 * @param {BundleOptions} options
 */
async function bundle(directory, entries, { joined = false }) {
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
    plugins: joined ? [joinIndex(join(directory, 'src'), entries)] : [],
    logOverride: { 'ignored-bare-import': 'silent' },
    charset: 'utf8',
    write: false,
    logLevel: 'warning',
  })
  return outputFiles
}

/**
 * Makes every entry import the entry `index`. esbuild writes one file for the modules that the same entries reach, and so
 * for all modules of `index`. Where an entry needs none of them, esbuild or `markPure` removes the import.
 * @param {string} source The folder `src` of the package.
 * @param {readonly string[]} entries
 * @returns {import('esbuild').Plugin}
 */
function joinIndex(source, entries) {
  const others = new Set(entries.filter((name) => name !== 'index').map((name) => join(source, `${name}.ts`)))
  return {
    name: 'join-index',
    setup: ({ onLoad }) =>
      onLoad({ filter: /\.ts$/ }, async ({ path }) => {
        if (!others.has(path)) return undefined
        const index = relative(dirname(path), join(source, 'index.ts'))
        return { contents: `${await readFile(path, 'utf8')}\nimport './${index}'\n`, loader: 'ts' }
      }),
  }
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
