import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** The folder of files that users copy. It has no packages of its own, so those of this package are used. */
export const deployFolder = fileURLToPath(new URL('../../../examples/deploy/', import.meta.url))

/** A bundled file of the folder, in a folder that is deleted at the end. */
export interface BundledExample extends AsyncDisposable {
  readonly path: string
  readonly folder: string
}

/** Bundles a file of the folder as an ES module for Node. */
export async function bundleExample(name: string): Promise<BundledExample> {
  const folder = await mkdtemp(join(tmpdir(), 'deploy-'))
  const path = join(folder, 'bundle.mjs')
  await build({
    entryPoints: [`${deployFolder}${name}`],
    bundle: true,
    outfile: path,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    nodePaths: [fileURLToPath(new URL('../node_modules', import.meta.url))],
    // Packages of CommonJS call `require`.
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)" },
    logLevel: 'error',
  })
  return { path, folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) }
}
