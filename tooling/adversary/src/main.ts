import { parseArgs } from 'node:util'
import type { Side } from './attack.ts'
import { clientSide } from './client/client-side.ts'
import { runAttacks } from './run-attack.ts'
import { serverSide } from './server/server-side.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: { long: { type: 'boolean', default: false } },
})

let [ran, failed] = [0, 0]

/** Runs the attacks of one side whose class or name begins with one of the words that were given. */
async function attack<P extends Disposable>(title: string, side: Side<P>): Promise<void> {
  for (const [name, attacks] of Object.entries(side.classes)) {
    const chosen = attacks.filter((row) => isChosen(`${title}/${name}/${row.name}`))
    for await (const { attack, seconds, notes, problems } of runAttacks(side, chosen, values.long ? 10 : 1)) {
      ran += 1
      if (problems.length > 0) failed += 1
      const head = `${problems.length === 0 ? 'ok    ' : 'FAILED'} ${title}/${name}/${attack} (${seconds.toFixed(1)} s)`
      process.stdout.write(
        [`${head} ${notes.join('; ')}`, ...problems.map((problem) => `       ${problem}`), ''].join('\n'),
      )
    }
  }
}

function isChosen(path: string): boolean {
  return positionals.length === 0 || positionals.some((word) => path.includes(word))
}

const started = performance.now()
await Promise.all([attack('server', serverSide), attack('client', clientSide)])
await clientSide[Symbol.asyncDispose]()
process.stdout.write(`${ran} attacks, ${failed} failed, in ${((performance.now() - started) / 1000).toFixed(0)} s\n`)
if (ran === 0) process.stderr.write('pnpm adversary [part of a name …] [--long]: no attack has such a name\n')
if (failed > 0 || ran === 0) process.exitCode = 1
