/** What the benchmark asks of a client. */
export interface CallLoadQuestion {
  readonly url: string
  readonly inFlight: number
  readonly seconds: number
}

/** What a client did. */
export interface CallLoadAnswer {
  readonly perSecond: number
  /** Microseconds of CPU in the client's process, user and system. */
  readonly cpuPerCall: number
}

/** Makes one call with the text, and gives the text that came back. */
export type EchoCall = () => Promise<string>

/** Answers the benchmark over the channel of this process: keeps so many calls under way for so long. */
export function serveCallLoad(connect: (url: string) => Promise<EchoCall> | EchoCall, expected: string): void {
  const calls = new Map<string, EchoCall>()
  process.once('disconnect', () => process.exit())
  process.on('message', (question: CallLoadQuestion) => {
    void (async () => {
      const { url } = question
      const call = calls.get(url) ?? (await connect(url))
      calls.set(url, call)
      const text = await call()
      if (text !== expected) throw new Error(`no echo: ${text}`)
      process.send?.(await runCallLoad(call, question))
    })()
  })
}

async function runCallLoad(call: EchoCall, { inFlight, seconds }: CallLoadQuestion): Promise<CallLoadAnswer> {
  const started = performance.now()
  const end = started + seconds * 1000
  const before = cpuMicroseconds()
  let made = 0
  const keepCalling = async (): Promise<void> => {
    while (performance.now() < end) {
      await call()
      made++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, keepCalling))
  const elapsed = (performance.now() - started) / 1000
  return { perSecond: made / elapsed, cpuPerCall: (cpuMicroseconds() - before) / made }
}

function cpuMicroseconds(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
