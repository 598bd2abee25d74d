import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Plugin } from 'esbuild'

/** A fault that is planted in the code of a package, to see whether the simulation finds it. */
interface PlantedFault {
  readonly file: string
  readonly code: string
  readonly fault: string
}

/** The planted faults by name. */
export const plantedFaults = {
  'round-used-without-claim': {
    file: 'legacy/src/server/call/ask-client.ts',
    code: 'if (!storedRound.isShared && storedRound.mayBeShared !== true) return true',
    fault: 'if (round.id) return true',
  },
  'every-request-repeated': {
    file: 'client/src/request/resend.ts',
    code: 'const isAllowed = isUnbegun ||',
    fault: 'const isAllowed = true || isUnbegun ||',
  },
  'waiting-call-not-released': {
    file: 'legacy/src/server/call/ask-client.ts',
    code: '      releaseBytes()\n      releaseCall()',
    fault: '      releaseBytes()',
  },
} as const satisfies Record<string, PlantedFault>

/** Returns the esbuild plugin that plants a fault. The build fails if the code is not found exactly once. */
export function plantFault(name: keyof typeof plantedFaults): Plugin {
  const { file, code, fault } = plantedFaults[name]
  const path = join(import.meta.dirname, '../../../../packages', file)
  return {
    name: 'planted-fault',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, async (args) => {
        if (args.path !== path) return undefined
        const parts = (await readFile(path, 'utf8')).split(code)
        if (parts.length !== 2)
          throw new Error(`${file} has the code ${parts.length - 1} times: correct the planted fault`)
        return { contents: parts.join(fault), loader: 'ts' }
      })
    },
  }
}
