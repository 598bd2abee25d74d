import { runMain, stopOnSignals } from '@apps/front/usage'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'
import { liveLines, liveTable } from './terminal/live-table.ts'

process.exitCode = await runMain(async () => {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  const view = process.stdout.isTTY ? liveTable(process.stdout) : liveLines(process.stdout)
  return run(options, { stop: stopOnSignals(), view })
})
