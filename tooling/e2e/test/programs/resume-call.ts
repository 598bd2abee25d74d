import { createClient, type PendingCall } from '@x/client'
import { isJsonObject } from '@x/schema'
import { connectHttp } from '@x/transport-http/client'

/** Resumes a call that another process started. The pending call is read from stdin and written to stdout as JSON. */
async function resumeCall(): Promise<void> {
  const { url, pending, answers } = parse(await readInput())
  const connection = connectHttp(url)
  try {
    const client = createClient(connection, { name: 'second', version: '1.0.0', capabilities: { elicitation: {} } })
    const round = await client.manualRounds.resume(pending, answers)
    const { status } = round
    const output = status === 'complete' ? { status, result: round.result } : { status, pending: round.pendingCall }
    process.stdout.write(JSON.stringify(output))
  } finally {
    await connection.close()
  }
}

async function readInput(): Promise<string> {
  let text = ''
  for await (const chunk of process.stdin) text += String(chunk)
  return text
}

interface Input {
  readonly url: string
  readonly pending: PendingCall
  readonly answers: Parameters<ReturnType<typeof createClient>['manualRounds']['resume']>[1]
}

function parse(text: string): Input {
  const input: unknown = JSON.parse(text)
  if (!isJsonObject(input) || typeof input['url'] !== 'string') throw new Error('expected url, pending and answers')
  // The client validates the pending call and the answers.
  return input as unknown as Input
}

void resumeCall()
