import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { build } from 'esbuild'
import { plantFault, type plantedFaults } from './planted-faults.ts'

/** The output of one run of the simulation. */
interface FleetRun {
  readonly output: string
  /** 0, or 1 if an invariant was broken. */
  readonly exitCode: number
}

/**
 * The program `pnpm simulation:fleet`. It runs in a separate process, because it replaces clocks and random functions.
 */
export interface FleetProgram {
  run(args: readonly string[]): Promise<FleetRun>
}

/** Builds the program as the script `fleet` does, with a fault in the code of a package if one is given. */
export async function buildFleetProgram(
  name: string,
  plantedFault?: keyof typeof plantedFaults,
): Promise<FleetProgram> {
  const outdir = join(import.meta.dirname, '../../.results', name)
  await build({
    entryPoints: ['main.ts', 'run-seed.ts'].map((file) => join(import.meta.dirname, file)),
    outdir,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    target: 'node20',
    outExtension: { '.js': '.cjs' },
    plugins: plantedFault === undefined ? [] : [plantFault(plantedFault)],
  })
  return {
    run: (args) =>
      new Promise((resolve, reject) => {
        const options = { maxBuffer: 64 * 1024 * 1024 }
        execFile(
          process.execPath,
          ['--max-semi-space-size=64', join(outdir, 'main.cjs'), ...args],
          options,
          (error, output, errors) => {
            if (errors !== '' || typeof (error?.code ?? 0) !== 'number') reject(new Error(errors, { cause: error }))
            else resolve({ output, exitCode: error === null ? 0 : Number(error.code) })
          },
        )
      }),
  }
}
