import { parseArgs } from 'node:util'
import { compareWithDemo, type DemoFigures } from './compare-demo.ts'

const usage = `pnpm simulation:demo [--seeds 2] [--share 1] [--seconds 20]
Runs calls at three processes of the load-shedding demo and in the simulation, and prints both results. Chunks of work
block an event loop without computing, so that other programs affect the results little. --share: load as a share of the capacity.
`

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      seeds: { type: 'string', default: '2' },
      share: { type: 'string', default: '1' },
      seconds: { type: 'string', default: '20' },
      help: { type: 'boolean' },
    },
  })
  if (values.help === true) return void process.stdout.write(usage)
  const load = { share: Number(values.share), withinMs: Number(values.seconds) * 1000 }
  for (let seed = 1; seed <= Number(values.seeds); seed++) {
    for (const sheds of [true, false]) {
      const { calls, chunkMs, demo, simulation } = await compareWithDemo({ ...load, seed, sheds })
      process.stdout.write(
        `seed ${seed}, shedding ${sheds ? 'on' : 'off'}: ${calls} calls, chunks of ${chunkMs.toFixed(2)} ms
  demo        ${figuresOf(demo)}
  simulation  ${figuresOf(simulation)}
`,
      )
    }
  }
}

function figuresOf({ completed, movesPerCall, meanMs, p50Ms, p99Ms }: DemoFigures): string {
  const [mean, p50, p99] = [meanMs, p50Ms, p99Ms].map((ms) => `${(ms / 1000).toFixed(2)} s`)
  return `${completed} completed, ${movesPerCall.toFixed(3)} hand-offs per call; mean ${mean}, p50 ${p50}, p99 ${p99}`
}

await main()
