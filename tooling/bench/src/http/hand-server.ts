import { answerQuestions } from './answer-questions.ts'
import { echoByHand } from './echo-by-hand.ts'

answerQuestions(echoByHand())
