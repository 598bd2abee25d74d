import { measure } from './measure.ts'

/**
 * Measures suspended calls. The arguments are the number of calls and the number of repetitions. With `leak` as the
 * third argument the handler retains its contexts.
 */
async function run([calls = '', times = '', mode = '']: readonly string[]): Promise<void> {
  const retained: object[] = []
  const leak = mode === 'leak' ? { retain: (context: object) => void retained.push(context) } : {}
  const measured = await measure({ calls: Number(calls), times: Number(times), ...leak })
  process.stdout.write(JSON.stringify({ ...measured, retained: retained.length }))
}

void run(process.argv.slice(2))
