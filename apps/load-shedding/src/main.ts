import { runMain, stopOnSignals } from '@apps/front/usage'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'
import { liveLines } from './terminal/live-lines.ts'

process.exitCode = await runMain(async () => {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  return run(options, { stop: stopOnSignals(), view: liveLines(process.stdout) })
})
