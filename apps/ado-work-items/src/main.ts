import { runMain, stopOnSignals, UsageError } from '@apps/front/usage'
import { ConfigurationError } from './configuration.ts'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'
import { serveHost } from './serve-host.ts'

process.exitCode = await runMain(main, [UsageError, ConfigurationError])

async function main(): Promise<number> {
  const options = parseOptions(process.argv.slice(2))
  if (options.help) {
    process.stdout.write(usage)
    return 0
  }
  const stop = stopOnSignals()
  if (options.stdio) {
    await serveHost(process.env, stop.signal)
    return 0
  }
  return run(options, {
    environment: process.env,
    stop,
    print: (text) => process.stdout.write(`${text}\n`),
  })
}
