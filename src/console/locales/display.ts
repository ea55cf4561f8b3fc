// How the page looks in this browser, and who is signed in.
import type { Texts } from './texts.js';

export const display = {
  'display.title': { en: 'This browser', zh: '此浏览器' },
  'display.language': { en: 'Language', zh: '语言' },
  'display.theme': { en: 'Theme', zh: '外观' },
  'display.system': { en: 'System', zh: '跟随系统' },
  'display.light': { en: 'Light', zh: '浅色' },
  'display.dark': { en: 'Dark', zh: '深色' },
  'display.signedInAs': { en: '{name}, from {address}', zh: '{name}，来自 {address}' },
  'display.signOut': { en: 'Sign out', zh: '退出登录' },
} as const satisfies Texts;
