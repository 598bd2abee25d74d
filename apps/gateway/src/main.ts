import { stopOnSignals, UsageError } from '@apps/front/usage'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options.help) {
      process.stdout.write(usage)
      return 0
    }
    return await run(options, { stop: stopOnSignals(), print: (text) => process.stdout.write(`${text}\n`) })
  } catch (error) {
    console.error(error instanceof UsageError ? `Cannot start: ${error.message}` : error)
    return 1
  } finally {
    // The channel to the process that started this one would keep it alive.
    if (process.connected) process.disconnect()
  }
}
