import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { build } from 'esbuild'
import { markPure } from './mark-pure.mjs'

/** @typedef {null | string | { readonly [condition: string]: Target }} Target The value of an entry of `exports`. */

/**
 * @typedef {object} BundleOptions
 * @property {boolean} [joined] Writes the modules of the entry `index` to one file, instead of a file for each set of
 *   entries that share modules. Node takes longer to find and link a file than to compile the modules in it that an
 *   entry does not use.
 */

/**
 * Writes the published scripts of a package to its `dist`. Each entry of `publishConfig.exports` and each program of
 * `bin` becomes a file, from the source of the same name. Modules that several of them share become further files.
 * Imports of other packages remain. Scripts of an earlier build are removed.
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
  await removeStale(dist, new Set(written.map(({ path }) => path)))
}

/**
 * Returns the names of the published files, relative to `dist` and without an extension.
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
    // All entries are bundled at once, so that each module is in exactly one file: error classes and WeakMaps are
    // compared by identity.
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'neutral',
    target: 'node20.19',
    // The code is not minified, and source maps contain the source: stack traces and debuggers show it.
    sourcemap: true,
    plugins: joined ? [joinIndex(join(directory, 'src'), entries)] : [],
    logOverride: { 'ignored-bare-import': 'silent' },
    write: false,
    logLevel: 'warning',
  })
  return outputFiles
}

/**
 * Makes every entry import the entry `index`. esbuild writes one file for all modules that the same entries import, and
 * so for all modules of `index`. If an entry uses none of them, esbuild or `markPure` removes the import.
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
async function removeStale(dist, written) {
  const files = await readdir(dist, { recursive: true })
  const scripts = files.filter((file) => /\.js(\.map)?$/.test(file)).map((file) => join(dist, file))
  await Promise.all(scripts.filter((file) => !written.has(file)).map((file) => rm(file)))
}
