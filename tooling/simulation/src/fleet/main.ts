import { randomFrom } from '@tooling/vitest/random'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { Script } from 'node:vm'
import { replaceGlobals } from './platform/replace-globals.ts'
import { createVirtualTime } from './platform/virtual-time.ts'
import type * as Simulation from './run-seed.ts'
import type { SeedReport } from './run-seed.ts'
import { createTotals, formatReport, formatTotals } from './print-report.ts'

const usage = `pnpm simulation:fleet [--seeds 100] [--from 1] [--trace]
Runs whole fleets in one process on a virtual clock, one for each seed, while instances, messages and services fail.
--trace prints the events of each seed.
The exit code is 1 if an invariant was broken.
`

/** The modules of a simulation. They are loaded again for each seed, so that no seed depends on another. */
type SimulationModule = typeof Simulation

// The real timer and clock, which are read before they are replaced.
const { setImmediate: startNextTurn } = globalThis
const readRealTime = performance.now.bind(performance)

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '100' },
      from: { type: 'string', default: '1' },
      trace: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  if (values.help) return void process.stdout.write(usage)
  const [seeds, from] = [wholeNumber('seeds', values.seeds), wholeNumber('from', values.from)]
  const startedAt = readRealTime()
  const totals = createTotals()
  const runSeed = createSeedRunner()
  for (let seed = from; seed < from + seeds; seed += 1) {
    const report = await runSeed(seed)
    totals.add(report)
    process.stdout.write(formatReport(report, values.trace))
  }
  process.stdout.write(formatTotals(totals, readRealTime() - startedAt))
  if (totals.failedSeeds.length > 0) process.exitCode = 1
}

function wholeNumber(name: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new RangeError(`--${name} is ${text}; write a whole number from 1`)
}

/** Replaces clocks and random functions in this process, and returns the function that runs one seed. */
function createSeedRunner(): (seed: number) => Promise<SeedReport> {
  const loadSimulation = createLoader()
  const setPlatform = replaceGlobals()
  const nextTurn = (): Promise<void> => new Promise((resolve) => void startNextTurn(resolve))
  return (seed) => {
    const time = createVirtualTime(nextTurn)
    setPlatform({ time, random: randomFrom(seed + 2 ** 30), randomForBytes: randomFrom(seed + 2 ** 31) })
    return loadSimulation().runSeed({ seed, time, onUnhandledRejection: listenForRejections })
  }
}

function listenForRejections(listener: (error: unknown) => void): () => void {
  process.on('unhandledRejection', listener)
  return () => {
    process.off('unhandledRejection', listener)
    // Each evaluation of the bundle guards it, and would be kept by its listener.
    process.stderr.removeAllListeners('error')
  }
}

/** Returns a function that evaluates the bundle beside this program. No two evaluations share a module. */
function createLoader(): () => SimulationModule {
  const file = join(dirname(process.argv[1] ?? ''), 'run-seed.cjs')
  const script = new Script(`(function (exports, require, module) {${readFileSync(file, 'utf8')}\n})`, {
    filename: file,
  })
  const require = createRequire(file)
  return () => {
    const module: { exports: unknown } = { exports: {} }
    script.runInThisContext()(module.exports, require, module)
    // The bundle is built from this module.
    return module.exports as SimulationModule
  }
}

void main()
