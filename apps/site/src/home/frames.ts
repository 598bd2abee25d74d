import { escapeHtml } from './html.ts'

/** What a run of the README's program prints, as `tooling/e2e/test/home-run.test.ts` records it. */
export interface RecordedRun {
  readonly ask: readonly string[]
  readonly kill: readonly string[]
  readonly answer: readonly string[]
}

const titles: Readonly<Record<keyof RecordedRun, string>> = {
  ask: 'Ask: instance A serves, and the host shows its question',
  kill: 'Kill: A ends while the question is open, B starts',
  answer: 'Answer: B continues the call',
}

/** Draws the run as three frames: the question, the end of the first instance, and the answer at the second one. */
export function drawFrames(run: RecordedRun): string {
  const frames = (['ask', 'kill', 'answer'] as const).map((name) => {
    const lines = run[name].map((line) => `<span class="${kindOf(line)}">${escapeHtml(line)}</span>`)
    return `<li class="frame ${name}"><strong>${titles[name]}</strong><pre tabindex="0">${lines.join('\n')}</pre></li>`
  })
  return `<ol class="frames">${frames.join('')}</ol>`
}

function kindOf(line: string): string {
  if (/^(Serving|process) /.test(line)) return 'process'
  return /^[●◇◆│]/.test(line) ? 'prompt' : 'result'
}
