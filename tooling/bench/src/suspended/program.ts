import { measure } from './measure.ts'

/**
 * Measures as many calls as the first argument says, as often as the second one; with `leak` as the third, a handler
 * keeps its contexts.
 */
async function run([calls = '', times = '', mode = '']: readonly string[]): Promise<void> {
  const kept: object[] = []
  const leak = mode === 'leak' ? { keep: (context: object) => void kept.push(context) } : {}
  const measured = await measure({ calls: Number(calls), times: Number(times), ...leak })
  process.stdout.write(JSON.stringify({ ...measured, kept: kept.length }))
}

void run(process.argv.slice(2))
