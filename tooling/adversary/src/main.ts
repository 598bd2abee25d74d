import { parseArgs } from 'node:util'
import type { Side } from './attack.ts'
import { clientSide } from './client/client-side.ts'
import { measureGrowth, maxExponent } from './growth/measure-growth.ts'
import { type Outcome, runAttacks } from './run-attack.ts'
import { serverSide } from './server/server-side.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false }, sample: { type: 'boolean', default: false } },
})

let [ran, failed] = [0, 0]

/** One class of attacks on the server or on the client. */
interface AttackClass {
  readonly path: string
  readonly run: () => AsyncGenerator<Outcome>
}

/** With `--sample`, one attack of so many in each class runs: the same ones each time, beginning with the first. */
const sampledShare = 3

/** Returns the classes of one side, with the attacks whose class or name contains a word of the command line. */
function classesOf<P extends Disposable>(title: string, side: Side<P>): AttackClass[] {
  return Object.entries(side.classes).map(([name, attacks]) => {
    const path = `${title}/${name}`
    const sampled = values.sample ? attacks.filter((_, index) => index % sampledShare === 0) : attacks
    const chosen = sampled.filter((attack) => isChosen(`${path}/${attack.name}`))
    return { path, run: () => runAttacks(side, chosen, values.long ? 10 : 1) }
  })
}

/** Runs the pending classes one after the other. */
async function runClasses(pending: AttackClass[]): Promise<void> {
  for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
    for await (const { attack, seconds, notes, problems } of next.run()) {
      ran += 1
      if (problems.length > 0) failed += 1
      const header = `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${next.path}/${attack} (${seconds.toFixed(1)} s)`
      process.stdout.write(
        [`${header} ${notes.join('; ')}`, ...problems.map((problem) => `       ${problem}`), ''].join('\n'),
      )
    }
  }
}

/** Measures parsers. Their times need a process without attacks, so they run last and one after the other. */
async function measureParsers(): Promise<void> {
  const { messageParsers } = await import('./growth/message-parsers.ts')
  const { otherParsers } = await import('./growth/other-parsers.ts')
  for (const parser of [...messageParsers, ...otherParsers].filter(({ name }) => isChosen(`growth/${name}`))) {
    const { ms, exponent } = await measureGrowth(parser)
    const isFine = exponent <= maxExponent
    ran += 1
    if (!isFine) failed += 1
    const measured = `${ms.toFixed(2)} ms for ${parser.bound} ${parser.unit ?? 'bytes'}, exponent ${exponent.toFixed(2)}`
    process.stdout.write(`${isFine ? 'ok    ' : 'FAILED'} growth/${parser.name} ${measured}\n`)
  }
}

function isChosen(path: string): boolean {
  return positionals.length === 0 || positionals.some((word) => path.includes(word))
}

const started = performance.now()
const classes = [...classesOf('client', clientSide), ...classesOf('server', serverSide)]
// Two classes run concurrently, because CI machines have two cores and each class has its own process.
await Promise.all([runClasses(classes), runClasses(classes)])
await clientSide[Symbol.asyncDispose]()
if (!values.sample) await measureParsers()
process.stdout.write(`${ran} attacks, ${failed} failed, in ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
if (ran === 0) process.stderr.write('pnpm adversary [part of a name …] [--long | --sample]: no attack matches\n')
if (failed > 0 || ran === 0) process.exitCode = 1
