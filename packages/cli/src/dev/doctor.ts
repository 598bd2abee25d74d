import type { Finding } from '../doctor/check.ts'
import { readAccessToken } from '../calls/stored-login.ts'
import { startCommandServer } from '../doctor/command-probe.ts'
import { runChecks } from '../doctor/run-checks.ts'
import type { ServeDevOptions } from './dev-options.ts'
import type { EventLog } from './event-log.ts'
import type { DoctorFinding } from './events.ts'
import type { Target } from './target/target.ts'

/** How the calls of the page are authorized. */
export type DoctorHttp = NonNullable<ServeDevOptions['http']>

/** Runs the checks of `mcpx doctor`, past the record of messages: some send 20 MB. */
export class Doctor {
  readonly #log: EventLog
  readonly #target: Target
  readonly #http: DoctorHttp
  readonly #signal: AbortSignal
  #isRunning = false

  constructor(
    log: EventLog,
    target: Target,
    { http, signal }: { readonly http: DoctorHttp; readonly signal: AbortSignal },
  ) {
    this.#log = log
    this.#target = target
    this.#http = http
    this.#signal = signal
  }

  /** Does nothing while the checks run. */
  start(): void {
    if (this.#isRunning) return
    this.#isRunning = true
    const findings: DoctorFinding[] = []
    const report = (): void => this.#log.append({ type: 'doctor', doctor: { isRunning: this.#isRunning, findings } })
    const onFinding = (id: string, finding: Finding): void => {
      findings.push({ id, ...finding, found: finding.found.replace('--tool NAME', 'mcpx doctor URL --tool NAME') })
      report()
    }
    report()
    void this.#run(onFinding)
      .catch((error: unknown) => onFinding('doctor', { status: 'skipped', found: String(error) }))
      .finally(() => {
        this.#isRunning = false
        report()
      })
  }

  async #readToken(url: URL): Promise<string | undefined> {
    const { headers, auth } = this.#http
    const given = typeof headers === 'function' ? undefined : headers?.['authorization']?.replace(/^Bearer /, '')
    return given ?? (auth && readAccessToken(auth, url, this.#signal))
  }

  /** A server over stdio is started once more for the checks, because they close its streams. */
  async #run(onFinding: Parameters<typeof runChecks>[1]): Promise<void> {
    const { url, program } = this.#target
    const signal = this.#signal
    if (url !== undefined) return runChecks({ url, token: await this.#readToken(url), signal }, onFinding)
    if (program === undefined) return
    await using process = startCommandServer(program, { signal, onLine: () => {} })
    await runChecks(
      { url: new URL(`stdio:${encodeURIComponent(program.command)}`), send: process.send, signal },
      onFinding,
    )
  }
}
