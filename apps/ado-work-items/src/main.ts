import { stopOnSignals, UsageError } from '@apps/front/usage'
import { ConfigurationError } from './configuration.ts'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'
import { serveHost } from './serve-host.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options.help) {
      process.stdout.write(usage)
      return 0
    }
    const stop = stopOnSignals()
    if (options.stdio) {
      await serveHost(process.env, stop.signal)
      return 0
    }
    return await run(options, {
      environment: process.env,
      stop,
      print: (text) => process.stdout.write(`${text}\n`),
      terminal:
        process.stdin.isTTY && process.stdout.isTTY ? { input: process.stdin, output: process.stdout } : undefined,
    })
  } catch (error) {
    const known = error instanceof UsageError || error instanceof ConfigurationError
    console.error(known ? `Cannot start: ${error.message.replaceAll('\n', '\n  ')}` : error)
    return 1
  } finally {
    // The channel to the process that started this one would keep it alive.
    if (process.connected) process.disconnect()
  }
}
