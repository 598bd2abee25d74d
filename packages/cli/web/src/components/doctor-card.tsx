import type { VNode } from 'preact'
import type { DoctorView } from '../../../src/dev/events.ts'

/** Shows what `mcpx doctor` has found. */
export function DoctorCard({ doctor }: { readonly doctor: DoctorView }): VNode {
  const { isRunning, findings } = doctor
  const count = (status: string): number => findings.filter((one) => one.status === status).length
  const wrong = findings.filter(({ status }) => status === 'wrong')
  return (
    <section class={`notice ${wrong.length > 0 ? 'bad' : isRunning ? '' : 'good'}`} aria-labelledby="doctor">
      <details open={wrong.length > 0}>
        <summary id="doctor">
          Doctor: {count('ok')} right, {wrong.length} wrong, {count('skipped')} skipped{isRunning && ' so far …'}
        </summary>
        <ul class="list">
          {[...wrong, ...findings.filter(({ status }) => status !== 'wrong')].map(({ id, status, found, change }) => (
            <li key={id}>
              <strong>{status === 'ok' ? 'right' : status}</strong> <code>{id}</code> {found}
              {change !== undefined && <p>{change}</p>}
            </li>
          ))}
        </ul>
      </details>
    </section>
  )
}
