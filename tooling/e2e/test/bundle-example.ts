import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The folder of example files. It has no packages of its own, so this package's dependencies are used. */
export const deployFolder = fileURLToPath(new URL('../../../examples/deploy/', import.meta.url))

/** A bundle of an example file, in a temporary folder. */
export interface BundledExample extends AsyncDisposable {
  readonly path: string
  readonly folder: string
}

/** Bundles an example file as an ES module for Node. `from` is the folder of the examples, with a slash at its end. */
export async function bundleExample(name: string, from = deployFolder): Promise<BundledExample> {
  const folder = await mkdtemp(join(tmpdir(), 'deploy-'))
  const path = join(folder, 'bundle.mjs')
  await build({
    entryPoints: [`${from}${name}`],
    bundle: true,
    outfile: path,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    // Bundled CommonJS packages call `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: 'error',
  })
  return { path, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
