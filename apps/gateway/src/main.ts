import { runMain, stopOnSignals } from '@apps/front/usage'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'

process.exitCode = await runMain(async () => {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  return run(options, { stop: stopOnSignals(), print: (text) => process.stdout.write(`${text}\n`) })
})
