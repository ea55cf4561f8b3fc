// Settings: tabs, this browser, retention, effective configuration.
import type { Texts } from './texts.js';

export const settings = {
  'settings.whitelist': { en: 'IP whitelist', zh: 'IP 白名单' },
  'settings.address': { en: 'Players’ address', zh: '连接地址' },
  'settings.admin': { en: 'Sign-in', zh: '登录安全' },
  'settings.games': { en: 'Game rules', zh: '游戏规则' },
  'settings.nodes': { en: 'Nodes', zh: '节点' },
  'settings.audit': { en: 'Audit log', zh: '审计日志' },
  'settings.tokens': { en: 'API tokens', zh: 'API 令牌' },
  'settings.retention': { en: 'Retention', zh: '保留时间' },
  'settings.effective': { en: 'Configuration', zh: '生效配置' },
  'settings.api': { en: 'API', zh: 'API 文档' },
  'settings.save': { en: 'Save', zh: '保存' },
  'settings.undo': { en: 'Undo', zh: '撤销' },
  'settings.saved': { en: 'Saved', zh: '已保存' },
  'retention.text': { en: 'Older data is removed automatically.', zh: '超过时间的数据会自动清除。' },
  'retention.wrong': {
    en: 'Must be a whole number from {min} to {max}.',
    zh: '须为 {min} 到 {max} 的整数。',
  },
  'retention.heartbeatDays': { en: 'Heartbeats (days)', zh: '心跳数据（天）' },
  'retention.heartbeatsPerAccount': {
    en: 'Heartbeats of one account (entries)',
    zh: '每个账号的心跳数据（条）',
  },
  'retention.sessionDays': {
    en: 'Session records for traces (days; 0: none)',
    zh: '用于追查的会话记录（天；0 表示不记录）',
  },
  'retention.runDays': { en: 'Runs and conversations (days)', zh: '运行与对话（天）' },
  'retention.loginDays': { en: 'Logins (days)', zh: '登录记录（天）' },
  'retention.auditDays': { en: 'Audit log (days)', zh: '审计日志（天）' },
  'effective.text': {
    en: 'The configuration in force (read-only). To change it, edit the file or the environment and restart.',
    zh: '当前生效的配置（只读）。要修改，请编辑配置文件或环境变量，然后重启。',
  },
  'effective.needsRestart': {
    en: 'Changed in the file or the environment; takes effect after a restart: {keys}',
    zh: '配置文件或环境变量已改，重启后才生效：{keys}',
  },
  'effective.problem': {
    en: 'With the present file and environment, a restart would fail: {problem}',
    zh: '按当前的配置文件或环境变量，重启会失败：{problem}',
  },
  'program.title': { en: 'Version', zh: '版本' },
  'program.build': { en: 'built from commit {commit} of', zh: '由提交 {commit} 构建，提交于' },
  'program.restart': {
    en: '{installed} is installed, but {running} is running. Restart the daemon: systemctl restart pulsegate.',
    zh: '已安装 {installed}，正在运行的仍是 {running}。请重启服务：systemctl restart pulsegate。',
  },
  'program.old': {
    en: 'This release is old. Look for a newer one where you got it: Pulsegate does not check for updates itself.',
    zh: '此版本已较旧，请到获取它的地方查看有没有新版本；Pulsegate 自己不会联网查询。',
  },
  'backup.title': { en: 'Backup', zh: '备份' },
  'backup.text': {
    en: 'A complete copy of the database: accounts, settings and history, with password hashes. Keep it safe. To restore it, stop the daemon and run',
    zh: '数据库的完整副本：账号、设置和历史记录，含密码哈希，请妥善保管。要恢复，请先停止服务，再运行',
  },
  'backup.download': { en: 'Download a backup', zh: '下载备份' },
  'effective.key': { en: 'Key', zh: '键' },
  'effective.value': { en: 'Value', zh: '值' },
  'effective.source': { en: 'From', zh: '来源' },
  'effective.hidden': { en: 'hidden', zh: '已隐藏' },
  'effective.source.default': { en: 'default', zh: '默认' },
  'effective.source.file': { en: 'file', zh: '文件' },
  'effective.source.environment': { en: 'environment', zh: '环境变量' },
  'effective.source.flag': { en: 'flag', zh: '命令行' },
  'effective.source.console': { en: 'console', zh: '控制台' },
  'effective.database': {
    en: 'Database {client}, {size}, {n} heartbeats',
    zh: '数据库 {client}，{size}，{n} 条心跳数据',
  },
  'effective.startedAt': { en: 'started', zh: '启动于' },
} as const satisfies Texts;
