import DefaultTheme from 'vitepress/theme'
import './home.css'
import './site.css'

export default DefaultTheme
