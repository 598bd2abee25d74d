import { measure } from './measure.ts'

/**
 * Measures as many calls as the first argument says, as often as the second one; with `leak` as the third, a handler
 * keeps its contexts.
 */
async function run([calls = '', times = '', mode = '']: readonly string[]): Promise<void> {
  const retained: object[] = []
  const leak = mode === 'leak' ? { retain: (context: object) => void retained.push(context) } : {}
  const measured = await measure({ calls: Number(calls), times: Number(times), ...leak })
  process.stdout.write(JSON.stringify({ ...measured, retained: retained.length }))
}

void run(process.argv.slice(2))
