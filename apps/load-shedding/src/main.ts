import { stopOnSignals, UsageError } from '@apps/front/usage'
import { parseOptions, usage } from './options.ts'
import { run } from './run.ts'
import { liveLines, liveTable } from './terminal/live-table.ts'

process.exitCode = await main(process.argv.slice(2))

async function main(args: readonly string[]): Promise<number> {
  try {
    const options = parseOptions(args)
    if (options.help) {
      process.stdout.write(usage)
      return 0
    }
    const view = process.stdout.isTTY ? liveTable(process.stdout) : liveLines(process.stdout)
    return await run(options, { stop: stopOnSignals(), view })
  } catch (error) {
    console.error(error instanceof UsageError ? `Cannot start: ${error.message}` : error)
    return 1
  } finally {
    // The channel to the process that started this one would keep it alive.
    if (process.connected) process.disconnect()
  }
}
