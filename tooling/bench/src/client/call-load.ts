/** A question of the benchmark to a client. */
export interface CallLoadQuestion {
  readonly url: string
  readonly inFlight: number
  readonly seconds: number
}

/** The measurement of a client. */
export interface CallLoadAnswer {
  readonly perSecond: number
  /** Microseconds of CPU in the client's process, user and system. */
  readonly cpuPerCall: number
}

/** Makes one call of the echo tool, and returns the text of the result. */
export type EchoCall = () => Promise<string>

/** Runs a load for each question of the benchmark: keeps a number of calls in flight for some seconds. */
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
