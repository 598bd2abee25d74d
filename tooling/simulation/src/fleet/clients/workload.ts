import { answerTo, walkSteps } from '../fleet/tools.ts'
import type { EffectLog } from '../services/effects.ts'

/** The tools that clients call. */
export type ToolName = 'pair' | 'paint' | 'walk' | 'add' | 'change'

/** Returns the expected result of a call, from the effects of its steps. */
export function expectedText(tool: ToolName, name: string, effects: EffectLog): string {
  if (tool === 'change') return name
  const valueOf = (step: string): string => effects.valueOf(`${name}/${step}`) ?? 'no effect'
  if (tool === 'walk')
    return [name, ...Array.from({ length: walkSteps }, (_, index) => valueOf(String(index + 1)))].join(' ')
  const [first, second] = [answerTo(`${name}.1`), answerTo(`${name}.2`)]
  return [name, valueOf('one'), first, valueOf('two'), second, valueOf('three')].join(' ')
}
