import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

/** Programs of this folder, bundled: the supported Node versions do not run TypeScript. */
export interface BuiltPrograms extends AsyncDisposable {
  /** The path of a program by its name in `programs`. */
  path(name: 'host' | 'server'): string
}

const requireForBundles = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)`

/** Bundles all programs into a folder that is removed at the end. */
export async function buildPrograms(): Promise<BuiltPrograms> {
  const folder = await mkdtemp(join(tmpdir(), 'stdio-'))
  const sources = [new URL('./programs/host.ts', import.meta.url), new URL('./programs/server.ts', import.meta.url)]
  await build({
    entryPoints: sources.map((source) => fileURLToPath(source)),
    bundle: true,
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: requireForBundles },
  })
  return {
    path: (name) => join(folder, `${name}.mjs`),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  }
}
