import { echoAnswer } from '../http/call.ts'
import { answerCpu } from './answer-cpu.ts'

// The least that a server for JSON lines can do: split, parse, answer a fixed text of the same size, all of a chunk at
// once.
const answer = `${echoAnswer}\n`
let rest = ''

answerCpu()
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  const lines = (rest + text).split('\n')
  rest = lines.pop() ?? ''
  let answers = ''
  for (const line of lines) {
    JSON.parse(line)
    answers += answer
  }
  if (answers !== '') process.stdout.write(answers)
})
process.stdin.on('end', () => process.exit())
